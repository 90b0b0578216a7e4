import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBaseImage } from '../../../scripts/setup/base-image.ts'
import { hostCertificateAuthorities } from '../../../scripts/setup/certificate-authorities.ts'
import { explainFailure, runCommand } from '../../../scripts/setup/command.ts'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import type { Progress } from '../../../scripts/setup/progress.ts'
import { docker } from './docker.ts'

const FOLDER = join(import.meta.dirname, '../nbconvert-image')
const INPUTS = ['Dockerfile', 'requirements.lock'] as const

/** The tag of an image that is the given sandbox image plus nbconvert; built first when it does not exist. Throws SetupError. */
export async function ensureNbconvertImage(sandboxImage: string, progress: Progress): Promise<string> {
  const config = readSetupConfig()
  const env = config.environment
  const { Id } = await docker.getImage(sandboxImage).inspect()
  const hash = createHash('sha256').update(Id)
  for (const name of INPUTS) hash.update(await readFile(join(FOLDER, name)))
  const tag = `cellblock-bench-nbconvert:${hash.digest('hex').slice(0, 12)}`
  const isHere = await docker
    .getImage(tag)
    .inspect()
    .then(
      () => true,
      () => false,
    )
  if (isHere) return tag

  progress('building the image of the replaced way (once): the sandbox image and nbconvert')
  const base = await ensureBaseImage(config, true, progress)
  const context = await mkdtemp(join(tmpdir(), 'cellblock-bench-image-'))
  try {
    for (const name of INPUTS) await cp(join(FOLDER, name), join(context, name))
    await mkdir(join(context, 'ca'))
    await writeFile(join(context, 'ca', '.keep'), '')
    const authorities = hostCertificateAuthorities(config.caFile)
    if (authorities !== '') await writeFile(join(context, 'ca', 'host.crt'), authorities)
    const buildArguments = Object.entries({ ...config.buildArguments, BASE: base, SANDBOX: sandboxImage })
    const args = ['build', ...buildArguments.flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]), '--tag', tag, context]
    const built = await runCommand('docker', args, { env: { ...env, BUILDKIT_PROGRESS: 'plain', BUILDX_BUILDER: 'default' } })
    if (built.code !== 0) throw explainFailure('The image of the replaced way could not be built: the reason is above.', built)
  } finally {
    await rm(context, { recursive: true, force: true })
  }
  return tag
}
