// Prepares a command's prerequisites in visible steps, then executes the command. Runs without node_modules.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { COMMANDS, isCommandName, type Command } from './commands.ts'
import { ensureSandboxImage, findSandboxImage } from './sandbox-image.ts'
import { ensureChromium } from './setup/chromium.ts'
import { exitOnSignals } from './setup/command.ts'
import { readSetupConfig, type SetupConfig } from './setup/config.ts'
import { ensureDependencies } from './setup/dependencies.ts'
import { ensureEngine } from './setup/engine.ts'
import { terminalConsent } from './setup/install-consent.ts'
import { ensureMiniStack } from './setup/ministack.ts'
import { quiet, SetupError, step } from './setup/progress.ts'
import { ensurePythonPackages } from './setup/python-packages.ts'
import { withSetupLock } from './setup/setup-lock.ts'
import { remainingNeeds } from './setup/remote-image-builds.ts'
import { startImages } from './setup/start-images.ts'
import { USAGE } from './usage.ts'

const root = dirname(import.meta.dirname)
const logFile = process.getuid?.() === 0 ? '/var/log/cellblock-dockerd.log' : join(root, '.cellblock', 'dockerd.log')

/** Returns additions to the command's environment: the engine that was found and the image that was built. */
async function prepare(command: Command, args: readonly string[], mayInstall: boolean): Promise<NodeJS.ProcessEnv> {
  const config = readSetupConfig()
  const isVerbose = command.isVerbose ?? false
  // Node caches compiled code: later commands and their child processes load in half the time.
  const env: NodeJS.ProcessEnv = { NODE_COMPILE_CACHE: join(root, '.cellblock', 'compile-cache'), ...config.environment, ...command.env }
  // The engine first: a missing engine fails before any download.
  if (command.needs.includes('engine')) {
    const engine = await step('Docker engine', isVerbose, async (progress) => {
      const value = await ensureEngine(config, { mayInstall, logFile }, progress)
      return { found: value.version, value }
    })
    if (engine.host !== undefined) env['DOCKER_HOST'] = engine.host
  }
  if (command.needs.includes('dependencies'))
    await step('Dependencies', isVerbose, async (progress) => ({
      found: await ensureDependencies(root, config, progress),
      value: undefined,
    }))
  if (command.needs.includes('chromium'))
    await step('Chromium', isVerbose, async (progress) => {
      const value = await ensureChromium({ config, mayInstall }, progress)
      return { found: value, value }
    })
  if (command.needs.includes('playground'))
    env['CELLBLOCK_PLAYGROUND'] = await step('Web page', isVerbose, async (progress) => {
      // Loaded here, because the dependencies may have been installed a moment ago.
      const { ensurePlayground } = await import('../infra/build/ensure-playground.ts')
      const value = await ensurePlayground(progress)
      return { found: 'built', value }
    })
  if (command.servesGuide === true) {
    const { findGuide } = await import('./docs/guide-folder.ts')
    const { folder, isBuilt } = await findGuide()
    env['CELLBLOCK_GUIDE'] = folder
    if (!isBuilt && env['CI'] === undefined) env['CELLBLOCK_BUILD_GUIDE'] = '1'
  }
  if (command.needs.includes('client-compat'))
    await step('Third-party clients', isVerbose, async (progress) => {
      const folder = join(root, 'tests', 'client-compat')
      const found = await ensureDependencies(folder, config, progress)
      await ensurePythonPackages(
        join(root, '.cellblock', 'client-compat-python'),
        join(folder, 'requirements.txt'),
        { config, mayInstall },
        progress,
      )
      return { found, value: undefined }
    })
  if (command.needs.includes('doc-snippets'))
    await step('Clients of docs/clients.md', isVerbose, async (progress) => {
      for (const name of ['doc-snippets', 'doc-snippets-openai-2']) {
        const requirements = join(root, 'tests', 'client-compat', `${name}.txt`)
        await ensurePythonPackages(join(root, '.cellblock', `${name}-python`), requirements, { config, mayInstall }, progress)
      }
      return { found: 'as pinned', value: undefined }
    })
  if (command.needs.includes('schemathesis'))
    await step('Schemathesis', isVerbose, async (progress) => {
      const folder = join(root, '.cellblock', 'schemathesis-python')
      await ensurePythonPackages(folder, join(root, 'tests', 'fuzz', 'requirements.txt'), { config, mayInstall }, progress)
      return { found: 'as pinned', value: undefined }
    })
  if (command.needs.includes('emulator'))
    await step('Emulated AWS account', isVerbose, async (progress) => {
      const value = await ensureMiniStack(root, { config, mayInstall }, progress)
      return { found: 'MiniStack as locked', value }
    })
  if (command.needs.includes('image'))
    Object.assign(env, await prepareImages(command, args, { mayInstall, config: { ...config, environment: env } }))
  return env
}

interface ImageSetup {
  readonly mayInstall: boolean
  readonly config: SetupConfig
}

/** The image that every command gets is `slim`; a server may have others. */
async function prepareImages(command: Command, args: readonly string[], setup: ImageSetup): Promise<Readonly<Record<string, string>>> {
  return step('Sandbox image', command.isVerbose ?? false, async (progress) => {
    if (command.hasImages === true && setup.config.environment['CELLBLOCK_IMAGES'] === undefined) {
      const value = await startImages(args, setup, (variant) => findSandboxImage(variant, setup.config), progress)
      return { found: value['CELLBLOCK_SANDBOX_IMAGE'] ?? '', value }
    }
    const image = await ensureSandboxImage(progress, setup)
    return { found: image, value: { CELLBLOCK_SANDBOX_IMAGE: image } }
  })
}

/** Replaces this process, so that signals and the exit code are the command's. */
function execCommand(command: Command, args: readonly string[], env: NodeJS.ProcessEnv): never {
  const [file, ...before] = command.entry
  const entry = join(root, file)
  if (!existsSync(entry))
    throw new SetupError(`${file} is missing from this clone. git status shows missing files; git restore brings them back.`)
  process.chdir(root)
  const argv = [process.execPath, '--disable-warning=ExperimentalWarning', ...(command.nodeFlags ?? []), entry, ...before, ...args]
  if (process.execve === undefined)
    throw new SetupError('This system has no execve: run Cellblock on Linux or macOS (on Windows, in WSL 2).')
  return process.execve(process.execPath, argv, env)
}

/** Prepares and executes the command, or only prints its help. */
async function main([name, ...given]: readonly string[]): Promise<void> {
  if (!isCommandName(name)) throw new SetupError(`Unknown command ${name ?? '(none)'}. Known: ${Object.keys(COMMANDS).join(', ')}.`)
  const usage = USAGE[name]
  if (usage !== undefined && given.includes('--help')) return void process.stdout.write(usage)
  const args = given.filter((argument) => argument !== '--no-install' && argument !== '--install')
  const known: Command = COMMANDS[name]
  const command: Command = { ...known, needs: await remainingNeeds(known, root) }
  const mayInstall = !given.includes('--no-install')
  if (given.includes('--install')) terminalConsent.grant()
  const log = command.isVerbose ? (line: string) => console.error(line) : quiet
  const env = await withSetupLock(join(root, '.cellblock', 'setup.lock'), log, () => prepare(command, args, mayInstall))
  execCommand(command, args, env)
}

exitOnSignals()
try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof SetupError ? `\n✗ ${error.message}` : error)
  process.exitCode = 1
}
