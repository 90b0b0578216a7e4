// Web apps behind published ports, each in a sandbox and used in Chromium. Their packages take 0.5 GB, so the image with them is built when this runs.
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'
import { resolveOwnPackages } from '../../../scripts/setup/own-packages.ts'
import { ensureSandboxImage } from '../../../scripts/setup/sandbox-image.ts'
import { startBrowser } from '../../browser/harness/browser.ts'
import { startServer, type LocalServerProcess } from '../../support/local-server.ts'
import type { NativeClient } from '../../support/native-client.ts'
import { WEB_APPS, type WebApp } from './apps.ts'

const HERE = import.meta.dirname
const FOLDER = join(HERE, '../../../.cellblock/web-apps')
const START_SECONDS = 90
const ACTION_MS = 30_000

/** Each app with its version. */
export const webAppNames = (): string => {
  const python = readFileSync(join(HERE, 'requirements.txt'), 'utf8')
  const { dependencies } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  return WEB_APPS.map(({ name }) => `\`${name}\` ${new RegExp(`^${name}==(.+)$`, 'm').exec(python)?.[1] ?? dependencies[name]}`).join(', ')
}

/** Null when every app works; otherwise which ones do not, and why. */
export async function runWebApps(): Promise<string | null> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`)
  const [image, modules] = [await ensureImage(say), await packModules()]
  const server = await startServer({ env: { CELLBLOCK_SANDBOX_IMAGE: image, CELLBLOCK_POOL: '1' } })
  const browser = await startBrowser()
  const problems: string[] = []
  try {
    for (const app of WEB_APPS) {
      const problem = await tryApp(app, { server, browser, modules }).catch((error: unknown) => String(error))
      say(`  ${problem === null ? 'works' : 'FAILED'}  ${app.name}: ${problem ?? app.covers}`)
      if (problem !== null) problems.push(`${app.name}: ${problem.split('\n')[0]}`)
    }
  } finally {
    await browser.close()
    await server.stop()
  }
  return problems.length === 0 ? null : problems.join('; ')
}

/** The image that docs/images.md tells operators to build. */
async function ensureImage(say: (line: string) => void): Promise<string> {
  await mkdir(FOLDER, { recursive: true })
  // The lock of the versions is written beside the list.
  const requirements = join(FOLDER, 'requirements.txt')
  await copyFile(join(HERE, 'requirements.txt'), requirements)
  const own = await resolveOwnPackages(
    { name: 'web-apps', requirements, debianPackages: [], wheels: undefined, wheelhouse: undefined, nltk: undefined },
    'standard',
  )
  return ensureSandboxImage(say, { variant: 'standard', own })
}

/** An archive of the npm packages: a sandbox without a network cannot install them. */
async function packModules(): Promise<Uint8Array<ArrayBuffer>> {
  await copyFile(join(HERE, 'package.json'), join(FOLDER, 'package.json'))
  const archive = join(FOLDER, 'modules.tar.gz')
  for (const [program, args] of [
    ['npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund']],
    ['tar', ['-czf', archive, 'node_modules']],
  ] as const) {
    const done = await runCommand(program, args, { cwd: FOLDER, env: process.env, timeoutSeconds: 300 })
    if (done.code !== 0) throw explainFailure('The packages of the web apps could not be installed.', done)
  }
  const bytes = new Uint8Array(readFileSync(archive))
  await rm(archive)
  return bytes
}

interface Place {
  readonly server: LocalServerProcess
  readonly browser: Browser
  readonly modules: Uint8Array<ArrayBuffer>
}

async function tryApp(app: WebApp, { server: { native: api, openai }, browser, modules }: Place): Promise<string | null> {
  const id = await api.createContainer()
  const context = await browser.newContext({ acceptDownloads: true })
  const page = await context.newPage()
  page.setDefaultTimeout(ACTION_MS)
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  const run = async (code: string): Promise<void> => {
    const { status, stderr, error } = await api.run(id, code)
    if (status !== 'succeeded') throw new Error(`The code ended as ${status}: ${error?.value ?? stderr}`)
  }
  try {
    if (app.command.startsWith('node ')) await openai.containers.files.create(id, { file: new File([modules], 'modules.tar.gz') })
    await run(startCode(app))
    const { url } = await api.json<{ url: string }>('POST', `/v1/containers/${id}/ports`, { port: app.port })
    const deadline = Date.now() + START_SECONDS * 1000
    let opened = await page.goto(url)
    // 502 while nothing listens. The link works once, and the cookie from then on.
    while (opened?.status() === 502 && Date.now() < deadline) {
      await delay(500)
      opened = await page.goto(new URL('/', url).href)
    }
    if (opened?.status() !== 200) return `the page answered ${opened?.status()}; the app said: ${await logOf(api, id)}`
    await app.use(page, { run })
    return errors.length === 0 ? null : `the page had errors: ${errors.join('; ')}`
  } catch (error) {
    const [reason] = String(error).split('\n')
    return `${reason}; page: ${(await page.locator('body').innerText()).slice(0, 300)}; errors: ${errors.join('; ')}; the app said: ${await logOf(api, id)}`
  } finally {
    await context.close()
    await api.call('DELETE', `/v1/containers/${id}`)
  }
}

/** Writes the files and starts the app. */
const startCode = ({ name, files, command }: WebApp): string => `
import os, subprocess, tarfile
os.makedirs("/tmp/${name}", exist_ok=True)
for path, text in ${JSON.stringify(files)}.items():
    open(f"/tmp/${name}/{path}", "w").write(text)
if os.path.exists("/mnt/data/modules.tar.gz"):
    tarfile.open("/mnt/data/modules.tar.gz").extractall("/tmp/${name}", filter="data")
app = subprocess.Popen(${JSON.stringify(command)}, shell=True, cwd="/tmp/${name}", stdin=subprocess.DEVNULL, stdout=open("/tmp/app.log", "w"), stderr=subprocess.STDOUT)
`

const logOf = async (api: NativeClient, id: string): Promise<string> =>
  (await api.run(id, 'print(open("/tmp/app.log").read()[-2000:])')).stdout
