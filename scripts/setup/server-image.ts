import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { contentHash, listFiles } from '../../infra/build/content-hash.ts'
import { ensureBaseImage } from './base-image.ts'
import { hostCertificateAuthorities } from './certificate-authorities.ts'
import { explainFailure, runCommand } from './command.ts'
import { readSetupConfig } from './config.ts'
import type { Progress } from './progress.ts'

const ROOT = dirname(dirname(import.meta.dirname))
const SECONDS = 180

/** The folders and files that .dockerignore leaves in the context, besides the certificate authorities of the machine. */
async function contextRoots(): Promise<string[]> {
  const lines = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n')
  const named = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  return ['Dockerfile', '.dockerignore', ...named.filter((name) => name !== 'runtime-image/ca')]
}

/** The tag of the server's image for the present sources. Builds the image if it does not exist. Throws SetupError. */
export async function ensureServerImage(progress: Progress, { mayInstall = true } = {}): Promise<string> {
  const config = readSetupConfig()
  const env = config.environment
  const files = await listFiles(ROOT, await contextRoots())
  const tag = `cellblock-server:${(await contentHash(ROOT, files)).slice(0, 12)}`
  if ((await runCommand('docker', ['image', 'inspect', '--format', '{{.Id}}', tag], { env, timeoutSeconds: 30 })).code === 0) return tag
  const base = await ensureBaseImage(config, mayInstall, progress)
  const context = await mkdtemp(join(tmpdir(), 'cellblock-server-'))
  try {
    for (const file of files) {
      await mkdir(dirname(join(context, file)), { recursive: true })
      await cp(join(ROOT, file), join(context, file))
    }
    await mkdir(join(context, 'runtime-image', 'ca'), { recursive: true })
    await writeFile(join(context, 'runtime-image', 'ca', 'host.crt'), hostCertificateAuthorities(config.caFile))
    progress(`docker build ${tag}`, SECONDS)
    const buildArguments = Object.entries({ ...config.buildArguments, BASE: base })
    const built = await runCommand(
      'docker',
      ['build', '--force-rm', ...buildArguments.flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]), '--tag', tag, context],
      { env: { ...env, BUILDKIT_PROGRESS: 'plain', BUILDX_BUILDER: 'default' } },
    )
    if (built.code !== 0)
      throw explainFailure(
        "The server's image could not be built: the reason is above. Check that the npm registry and the Debian mirror can be reached.",
        built,
      )
  } finally {
    await rm(context, { recursive: true, force: true })
  }
  return tag
}
