import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { durationText, leftText } from '../progress/time-left.ts'
import { ensureBaseImage } from './base-image.ts'
import { hostCertificateAuthorities } from './certificate-authorities.ts'
import { explainFailure, runCommand } from './command.ts'
import { readSetupConfig, type SetupConfig } from './config.ts'
import { imageSuffix, imageTag, listImageInputs, type ImageOptions, type ImageVariant } from '../../infra/build/image-inputs.ts'
import { writeOwnPackages, type OwnPackages } from './own-packages.ts'
import type { Progress } from './progress.ts'

const FOLDER = join(dirname(dirname(import.meta.dirname)), 'runtime-image')

export interface SandboxImageOptions extends Partial<ImageOptions> {
  /** Whether mmdebstrap may be installed if no registry answers. Default true. */
  readonly mayInstall?: boolean
  readonly config?: SetupConfig
  /** The build yields to other work, where the engine's builder can. */
  readonly isBackground?: boolean
  /** Packages beside those of the variant. */
  readonly own?: OwnPackages
}

/** What a build from nothing writes, and the seconds that it takes on two cores. Cached layers save most of them. */
const EXPECTED: Readonly<Record<ImageVariant, { readonly size: string; readonly seconds: number }>> = {
  slim: { size: '0.6 GB', seconds: 120 },
  standard: { size: '1.6 GB', seconds: 400 },
  full: { size: 'several GB', seconds: 900 },
}

/** The tag of the image for the current content of runtime-image/, if that image exists. */
export async function findSandboxImage(variant: ImageVariant, config: SetupConfig = readSetupConfig()): Promise<string | null> {
  const tag = await imageTag(FOLDER, { variant })
  const found = await runCommand('docker', ['image', 'inspect', '--format', '{{.Id}}', tag], {
    env: config.environment,
    timeoutSeconds: 30,
  })
  return found.code === 0 ? tag : null
}

/**
 * The tag of the sandbox image (`slim` unless the options say otherwise) for the current content of runtime-image/. Builds the image if it
 * does not exist: about two minutes from nothing for `slim`, seconds after a change of the supervisor. `cellblock-sandbox:dev` (with the
 * variant's suffix, or `own`'s name) then also names it. Throws SetupError.
 */
export async function ensureSandboxImage(progress: Progress, options: SandboxImageOptions = {}): Promise<string> {
  const { variant = 'slim', hasDisplay = false, mayInstall = true, config = readSetupConfig(), isBackground = false, own } = options
  const tag = await tagOf({ variant, hasDisplay }, own)
  const env = config.environment
  const devTag = `cellblock-sandbox:${own?.name ?? `dev${imageSuffix({ variant, hasDisplay })}`}`
  if ((await runCommand('docker', ['tag', tag, devTag], { env, timeoutSeconds: 30 })).code === 0) return tag

  const base = await ensureBaseImage(config, mayInstall, progress)
  const context = await mkdtemp(join(tmpdir(), 'cellblock-image-'))
  try {
    await fillContext(context, variant, config)
    if (own !== undefined) await writeOwnPackages(context, own)
    const buildArguments = { ...config.buildArguments, BASE: base, VARIANT: variant, DISPLAY_SERVER: hasDisplay ? 'xvfb' : 'none' }
    const expected = EXPECTED[variant]
    progress(`docker build ${tag}, ${expected.size}`, expected.seconds)
    const built = await runCommand(
      'docker',
      [
        'build',
        // The classic builder keeps the container of a step that failed.
        '--force-rm',
        ...(isBackground && (await hasClassicBuilder(env)) ? ['--cpu-shares', '128'] : []),
        ...Object.entries(buildArguments).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
        '--tag',
        tag,
        '--tag',
        devTag,
        context,
      ],
      { env: { ...env, BUILDKIT_PROGRESS: 'plain', BUILDX_BUILDER: 'default' }, onLine: buildSteps(progress, expected.seconds) },
    )
    if (built.code !== 0)
      throw explainFailure(
        'The sandbox image could not be built: the reason is above. Check that PyPI and the Debian mirror can be reached and run the command again.',
        built,
      )
  } finally {
    await rm(context, { recursive: true, force: true })
  }
  return tag
}

/** With own packages, their digest is part of the tag, and their name ends it. */
async function tagOf(options: ImageOptions, own: OwnPackages | undefined): Promise<string> {
  const tag = await imageTag(FOLDER, options)
  if (own === undefined) return tag
  return `cellblock-sandbox:${createHash('sha256').update(`${tag}\0${own.digest}`).digest('hex').slice(0, 12)}-${own.name}`
}

/** Copies the image's inputs, and this machine's certificate authorities for the build stage that downloads. */
async function fillContext(context: string, variant: ImageVariant, config: SetupConfig): Promise<void> {
  for (const path of await listImageInputs(FOLDER, variant)) {
    await mkdir(dirname(join(context, path)), { recursive: true })
    await cp(join(FOLDER, path), join(context, path))
  }
  await mkdir(join(context, 'ca'))
  const authorities = hostCertificateAuthorities(config.caFile)
  await writeFile(join(context, 'ca', '.keep'), '')
  if (authorities !== '') await writeFile(join(context, 'ca', 'host.crt'), authorities)
}

/** Engines before 23 build with their own containers, whose share of the processor can be set. */
async function hasClassicBuilder(env: NodeJS.ProcessEnv): Promise<boolean> {
  const { stdout } = await runCommand('docker', ['version', '--format', '{{.Server.Version}}'], { env, timeoutSeconds: 30 })
  return Number.parseInt(stdout, 10) < 23 && env['DOCKER_BUILDKIT'] !== '1'
}

/** One line per build step with the time so far and the time left, for both of Docker's builders. */
function buildSteps(progress: Progress, expectedSeconds: number): (line: string) => void {
  const startedAt = performance.now()
  return (line) => {
    const step = /^Step (\d+\/\d+) : (.*)/.exec(line) ?? /^#\d+ \[([^\]]+)\] (.*)/.exec(line)
    if (step === null || /^(ARG|ENV|WORKDIR|ENTRYPOINT)/.test(step[2] ?? '')) return
    const seconds = (performance.now() - startedAt) / 1000
    const time = `${durationText(seconds)}, ${leftText(expectedSeconds, seconds)}`
    progress(`${step[1]} (${time}): ${(step[2] ?? '').replaceAll(/\s+/g, ' ').slice(0, 90)}`)
  }
}
