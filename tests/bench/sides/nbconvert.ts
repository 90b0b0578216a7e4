import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBaseImage } from '../../../scripts/setup/base-image.ts'
import { hostCertificateAuthorities } from '../../../scripts/setup/certificate-authorities.ts'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import type { Progress } from '../../../scripts/setup/progress.ts'

const FOLDER = join(import.meta.dirname, '../nbconvert')
const CACHE = join(import.meta.dirname, '../../../.cellblock/bench')
const INPUTS = ['Dockerfile', 'requirements.lock'] as const

/** The mount path of nbconvert in the reference container. */
export const NBCONVERT = '/opt/nbconvert'

/**
 * A folder with nbconvert and its dependencies, mounted at `NBCONVERT` into the unchanged sandbox image. Created once by pip in a
 * container, from the locked requirements. Throws SetupError.
 */
export async function ensureNbconvert(progress: Progress): Promise<string> {
  const hash = createHash('sha256')
  for (const name of INPUTS) hash.update(await readFile(join(FOLDER, name)))
  const name = `nbconvert-${hash.digest('hex').slice(0, 12)}`
  const folder = join(CACHE, name)
  if (await stat(folder).catch(() => null)) return folder

  progress('installing nbconvert for the replaced way (once)')
  await mkdir(CACHE, { recursive: true })
  const work = await mkdtemp(join(tmpdir(), 'cellblock-bench-nbconvert-'))
  const tag = `cellblock-bench:${name}`
  try {
    await build(work, tag, progress)
    const container = (await must(['create', tag, 'never-started'])).trim()
    await must(['cp', `${container}:${NBCONVERT}`, join(CACHE, `${name}.part`)])
    await must(['rm', container])
    await must(['rmi', tag])
    await rename(join(CACHE, `${name}.part`), folder)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return folder
}

async function build(context: string, tag: string, progress: Progress): Promise<void> {
  const config = readSetupConfig()
  for (const name of INPUTS) await cp(join(FOLDER, name), join(context, name))
  await mkdir(join(context, 'ca'))
  await writeFile(join(context, 'ca', '.keep'), '')
  const authorities = hostCertificateAuthorities(config.caFile)
  if (authorities !== '') await writeFile(join(context, 'ca', 'host.crt'), authorities)
  const buildArguments = Object.entries({ ...config.buildArguments, BASE: await ensureBaseImage(config, true, progress) })
  await must([
    'build',
    '--force-rm',
    ...buildArguments.flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    '--tag',
    tag,
    context,
  ])
}

async function must(args: readonly string[]): Promise<string> {
  const result = await runCommand('docker', args, { env: { ...process.env, BUILDKIT_PROGRESS: 'plain', BUILDX_BUILDER: 'default' } })
  if (result.code !== 0) throw explainFailure(`docker ${args[0]} failed: the reason is above.`, result)
  return result.stdout
}
