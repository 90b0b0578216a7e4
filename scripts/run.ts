// Prepares a command's prerequisites in visible steps, then executes the command. Runs without node_modules.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { COMMANDS, isCommandName, type Command } from './commands.ts'
import { exitOnSignals } from './setup/command.ts'
import { readSetupConfig } from './setup/config.ts'
import { terminalConsent } from './setup/install-consent.ts'
import { PREPARATIONS } from './setup/preparations.ts'
import { quiet, SetupError, step } from './setup/progress.ts'
import { remainingNeeds } from './setup/remote-image-builds.ts'
import { withSetupLock } from './setup/setup-lock.ts'
import { testNeeds } from './setup/test-needs.ts'
import { USAGE } from './usage.ts'

const root = dirname(import.meta.dirname)

/** Returns additions to the command's environment: the engine that was found and the image that was built. */
async function prepare(command: Command, args: readonly string[], mayInstall: boolean): Promise<NodeJS.ProcessEnv> {
  const config = readSetupConfig()
  const env: NodeJS.ProcessEnv = { ...command.env, ...config.environment }
  for (const { need, title, prepare: run } of PREPARATIONS) {
    if (!command.needs.includes(need)) continue
    const additions = await step(title, { always: command.isVerbose ?? false }, async (progress) => {
      const prepared = await run({ root, command, args, mayInstall, config, env }, progress)
      return { found: prepared.found, value: prepared.env }
    })
    Object.assign(env, additions)
  }
  if (command.servesGuide === true) {
    const { findGuide } = await import('./docs/guide-folder.ts')
    const { folder, isBuilt } = await findGuide()
    env['CELLBLOCK_GUIDE'] = folder
    if (!isBuilt && env['CI'] === undefined) env['CELLBLOCK_BUILD_GUIDE'] = '1'
  }
  return env
}

/** Replaces this process, so that signals and the exit code are the command's. */
function execCommand(command: Command, args: readonly string[], env: NodeJS.ProcessEnv): never {
  const [file, ...before] = command.entry
  const entry = join(root, file)
  if (!existsSync(entry))
    throw new SetupError(`${file} is missing from this clone. git status shows missing files; git restore brings them back.`)
  process.chdir(root)
  const argv = [process.execPath, '--disable-warning=ExperimentalWarning', ...(command.nodeFlags?.(env) ?? []), entry, ...before, ...args]
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
  const needs = known.testsAreNamed === true ? testNeeds(args, known.needs, root) : await remainingNeeds(known, root)
  const command: Command = { ...known, needs }
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
