import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Command, Requirement } from '../commands.ts'
import { ensureSandboxImage, findSandboxImage } from './sandbox-image.ts'
import { ensureCfnLint } from './cfn-lint.ts'
import { ensureChromium } from './chromium.ts'
import type { SetupConfig } from './config.ts'
import { ensureDependencies } from './dependencies.ts'
import { ensureEngine } from './engine.ts'
import { ensureGvisor } from './gvisor/ensure-gvisor.ts'
import { ensureMiniStack } from './ministack.ts'
import type { Progress } from './progress.ts'
import { ensurePythonPackages } from './python-packages.ts'
import { startImages } from './start-images.ts'

interface Setup {
  readonly root: string
  readonly command: Command
  /** The user's arguments. */
  readonly args: readonly string[]
  readonly mayInstall: boolean
  readonly config: SetupConfig
  /** The command's environment so far. */
  readonly env: NodeJS.ProcessEnv
}

interface Prepared {
  /** What the step prints, such as a version. */
  readonly found: string
  /** Additions to the command's environment. */
  readonly env?: Readonly<Record<string, string>>
}

interface Preparation {
  readonly need: Requirement
  readonly title: string
  readonly prepare: (setup: Setup, progress: Progress) => Promise<Prepared>
}

/** In this order: the engine first, because a missing engine fails before any download; the image last, because it needs the engine. */
export const PREPARATIONS: readonly Preparation[] = [
  { need: 'engine', title: 'Docker engine', prepare: prepareEngine },
  {
    need: 'dependencies',
    title: 'Dependencies',
    prepare: async ({ root, config }, progress) => ({ found: await ensureDependencies(root, config, progress) }),
  },
  { need: 'chromium', title: 'Chromium', prepare: async (setup, progress) => ({ found: await ensureChromium(setup, progress) }) },
  { need: 'playground', title: 'Web page', prepare: preparePlayground },
  { need: 'client-compat', title: 'Third-party clients', prepare: prepareClients },
  {
    need: 'client-generator',
    title: 'Generator of the client',
    prepare: async ({ root, config }, progress) => ({
      found: await ensureDependencies(join(root, 'scripts', 'generate-client'), config, progress),
    }),
  },
  { need: 'doc-snippets', title: 'Clients of docs/clients.md', prepare: prepareDocSnippets },
  { need: 'schemathesis', title: 'Schemathesis', prepare: prepareSchemathesis },
  {
    need: 'cfn-lint',
    title: 'Linter of templates',
    prepare: async (setup, progress) => {
      await ensureCfnLint(setup.root, setup, progress)
      return { found: 'cfn-lint as locked' }
    },
  },
  { need: 'emulator', title: 'Emulated AWS account', prepare: prepareEmulator },
  { need: 'image', title: 'Sandbox image', prepare: prepareImages },
]

async function prepareEngine({ root, args, config, mayInstall, env }: Setup, progress: Progress): Promise<Prepared> {
  const logFile = process.getuid?.() === 0 ? '/var/log/cellblock-dockerd.log' : join(root, '.cellblock', 'dockerd.log')
  const { version, host } = await ensureEngine(config, { mayInstall, logFile }, { progress })
  const address = host === undefined ? {} : { DOCKER_HOST: host }
  const chosen = chosenRuntime(args, env)
  if (chosen === undefined) return { found: version, env: address }
  const runtime = chosen === 'gvisor' ? await ensureGvisor({ mayInstall, dockerHost: host, env: { ...env, ...address } }, progress) : chosen
  return { found: `${version}, sandboxes on ${chosen}`, env: { ...address, SANDBOX_DOCKER_RUNTIME: runtime } }
}

/** The option of `npm start`, else the variable, which other commands read too. */
function chosenRuntime(args: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const { runtime } = parseArgs({ args: [...args], options: { runtime: { type: 'string' } }, strict: false }).values
  return typeof runtime === 'string' ? runtime : env['SANDBOX_DOCKER_RUNTIME']
}

async function preparePlayground(_: Setup, progress: Progress): Promise<Prepared> {
  // Loaded here, because the dependencies may have been installed a moment ago.
  const { ensurePlayground } = await import('../../infra/build/ensure-playground.ts')
  return { found: 'built', env: { CELLBLOCK_PLAYGROUND: await ensurePlayground(progress) } }
}

async function prepareClients(setup: Setup, progress: Progress): Promise<Prepared> {
  const folder = join(setup.root, 'tests', 'client-compat')
  const found = await ensureDependencies(folder, setup.config, progress)
  await ensurePythonPackages(
    { folder: join(setup.root, '.cellblock', 'client-compat-python'), requirements: join(folder, 'requirements.txt') },
    setup,
    progress,
  )
  return { found }
}

async function prepareDocSnippets(setup: Setup, progress: Progress): Promise<Prepared> {
  for (const name of ['doc-snippets', 'doc-snippets-openai-2']) {
    const requirements = join(setup.root, 'tests', 'client-compat', `${name}.txt`)
    await ensurePythonPackages({ folder: join(setup.root, '.cellblock', `${name}-python`), requirements }, setup, progress)
  }
  return { found: 'as pinned' }
}

async function prepareSchemathesis(setup: Setup, progress: Progress): Promise<Prepared> {
  const folder = join(setup.root, '.cellblock', 'schemathesis-python')
  await ensurePythonPackages({ folder, requirements: join(setup.root, 'tests', 'fuzz', 'requirements.txt') }, setup, progress)
  return { found: 'as pinned' }
}

async function prepareEmulator(setup: Setup, progress: Progress): Promise<Prepared> {
  await ensureMiniStack(setup.root, setup, progress)
  return { found: 'MiniStack as locked' }
}

/** The image that every command gets is `slim`; a server may have others. */
async function prepareImages({ command, args, mayInstall, config, env }: Setup, progress: Progress): Promise<Prepared> {
  const options = { mayInstall, config: { ...config, environment: env } }
  if (command.hasImages === true && env['CELLBLOCK_IMAGES'] === undefined) {
    const images = await startImages(args, options, { findImage: (variant) => findSandboxImage(variant, options.config), progress })
    return { found: images['CELLBLOCK_SANDBOX_IMAGE'] ?? '', env: images }
  }
  const image = await ensureSandboxImage(progress, options)
  return { found: image, env: { CELLBLOCK_SANDBOX_IMAGE: image } }
}
