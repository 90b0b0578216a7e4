import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OFFICIAL_BASE_IMAGE } from '../../infra/build/official-base-image.ts'
import { aptInstall } from './apt.ts'
import { explainFailure, runCommand } from './command.ts'
import type { SetupConfig } from './config.ts'
import { SetupError, type Progress } from './progress.ts'

const OWN = 'cellblock-base:trixie'

/** Returns the name of a local Debian 13 image: pulled, or built from the Debian mirror if no registry answers. */
export async function ensureBaseImage(config: SetupConfig, mayInstall: boolean, progress: Progress): Promise<string> {
  const env = config.environment
  for (const name of config.baseImage ? [config.baseImage] : [OFFICIAL_BASE_IMAGE, OWN]) if (await isImagePresent(name, env)) return name
  if (config.baseImage)
    throw new SetupError(`CELLBLOCK_BASE_IMAGE=${config.baseImage} is not on this machine. Load it (docker load) or unset the variable.`)

  progress(`docker pull ${OFFICIAL_BASE_IMAGE}, 30 MB`, 30)
  const pulled = await runCommand('docker', ['pull', '--quiet', OFFICIAL_BASE_IMAGE], { env, timeoutSeconds: 180 })
  if (pulled.code === 0) return OFFICIAL_BASE_IMAGE
  progress('No image registry answers: building the same base from the Debian mirror')
  await bootstrapDebian(config, mayInstall, progress)
  return OWN
}

async function isImagePresent(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return (await runCommand('docker', ['image', 'inspect', '--format', '{{.Id}}', name], { env, timeoutSeconds: 30 })).code === 0
}

async function bootstrapDebian(config: SetupConfig, mayInstall: boolean, progress: Progress): Promise<void> {
  const env = config.environment
  if ((await runCommand('mmdebstrap', ['--version'], { env })).code !== 0) await installMmdebstrap(env, mayInstall, progress)
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-base-'))
  try {
    const archive = join(folder, 'base.tar')
    const mirror = config.buildArguments['DEBIAN_MIRROR'] ?? 'http://deb.debian.org/debian'
    progress(`mmdebstrap trixie from ${mirror}, 60 MB`, 60)
    const made = await runCommand('mmdebstrap', [...MMDEBSTRAP_OPTIONS, 'trixie', archive, ...aptSources(mirror)], {
      env,
      onLine: majorLines(progress),
    })
    if (made.code !== 0)
      throw explainFailure(
        `The base image could neither be pulled (${OFFICIAL_BASE_IMAGE}) nor be built from ${mirror}. Make one of them reachable (DEBIAN_MIRROR sets another mirror), or set CELLBLOCK_BASE_IMAGE to a local Debian 13 image.`,
        made,
      )
    const imported = await runCommand('docker', ['import', archive, OWN], { env })
    if (imported.code !== 0) throw explainFailure(`docker import could not store ${OWN}.`, imported)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** As slim as the official image, without the host's name and resolver configuration, which mmdebstrap copies. */
const MMDEBSTRAP_OPTIONS = [
  '--variant=minbase',
  ...['man', 'info', 'locale', 'doc'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
  '--dpkgopt=path-include=/usr/share/doc/*/copyright',
  '--customize-hook=rm -f "$1"/etc/hostname "$1"/etc/resolv.conf',
]

const aptSources = (mirror: string): string[] => [
  `deb ${mirror} trixie main`,
  `deb ${mirror} trixie-updates main`,
  `deb ${mirror}-security trixie-security main`,
]

async function installMmdebstrap(env: NodeJS.ProcessEnv, mayInstall: boolean, progress: Progress): Promise<void> {
  const canInstall = process.getuid?.() === 0 && (await runCommand('apt-get', ['--version'], { env })).code === 0
  if (!canInstall || !mayInstall)
    throw new SetupError(
      `${OFFICIAL_BASE_IMAGE} could not be pulled, and mmdebstrap, which can build the same base, is not installed. On Debian or Ubuntu run \`sudo apt-get install -y mmdebstrap debian-archive-keyring\`; elsewhere load a Debian 13 image and set CELLBLOCK_BASE_IMAGE to its name. Then run the command again.`,
    )
  await aptInstall(['mmdebstrap', 'debian-archive-keyring'], env, progress)
}

/** Passes on mmdebstrap's milestones, not its progress bars. */
const majorLines = (progress: Progress) => (line: string) => {
  if (/^I: (downloading|extracting|installing|creating)/.test(line)) progress(line.slice(3))
}
