import { mkdir, rename } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { ensureBaseImage } from '../../scripts/setup/base-image.ts'
import { explainFailure, runCommand } from '../../scripts/setup/command.ts'
import { readSetupConfig } from '../../scripts/setup/config.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const FOLDER = join(ROOT, '.cellblock', 'compose')
const PLUGIN = join(FOLDER, 'docker-compose')

/** The program of Docker Compose 2: that of the machine, else Debian's package, unpacked. */
export async function composeProgram(): Promise<readonly [program: string, ...args: string[]]> {
  if ((await runCommand('docker', ['compose', 'version'])).code === 0) return ['docker', 'compose']
  if (existsSync(PLUGIN)) return [PLUGIN]
  const base = await ensureBaseImage(readSetupConfig(), true, () => undefined)
  await mkdir(FOLDER, { recursive: true })
  const script =
    'cd /tmp && apt-get -qq update && apt-get -qq download docker-compose && dpkg-deb -x docker-compose_*.deb x && cp x/usr/libexec/docker/cli-plugins/docker-compose /out/incoming'
  const made = await runCommand('docker', ['run', '--rm', '--volume', `${FOLDER}:/out`, base, 'sh', '-c', script], { timeoutSeconds: 300 })
  if (made.code !== 0) throw explainFailure('Docker Compose could not be downloaded from the Debian mirror.', made)
  await rename(join(FOLDER, 'incoming'), PLUGIN)
  return [PLUGIN]
}

export interface ComposeProject {
  readonly name: string
  readonly url: string
  readonly apiKey: string
  /** Runs a command of Compose and returns its output. Rejects with the output of one that fails. */
  run(...args: readonly string[]): Promise<string>
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** `compose.yaml` as a separate project with images that exist. */
export async function composeProject(options: {
  readonly name: string
  readonly serverImage: string
  readonly sandboxImage: string
}): Promise<ComposeProject> {
  const [program, ...first] = await composeProgram()
  const port = await freePort()
  const apiKey = 'ck_test_0123456789abcdef0123456789'
  const env = {
    ...process.env,
    CELLBLOCK_SERVER_IMAGE: options.serverImage,
    CELLBLOCK_SANDBOX_IMAGE: options.sandboxImage,
    CELLBLOCK_LISTEN: `127.0.0.1:${port}`,
    CELLBLOCK_PUBLIC_URL: `http://127.0.0.1:${port}`,
    CELLBLOCK_API_KEY: apiKey,
    CELLBLOCK_POOL: '1',
    SANDBOX_PRELOAD: 'none',
  }
  return {
    name: options.name,
    url: `http://127.0.0.1:${port}`,
    apiKey,
    async run(...args) {
      const all = [...first, '--project-name', options.name, '--file', join(ROOT, 'compose.yaml'), ...args]
      const done = await runCommand(program, all, { env, cwd: ROOT, timeoutSeconds: 200 })
      if (done.code !== 0) throw explainFailure(`docker compose ${args.join(' ')} failed.`, done)
      return done.stdout
    },
  }
}
