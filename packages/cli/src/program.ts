import { Command, CommanderError } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { InterruptedError } from './ask.ts'
import { addAccount } from './commands/account.ts'
import { addChat } from './commands/chat.ts'
import { addCompletion } from './commands/completion.ts'
import { addContainers } from './commands/containers.ts'
import { addDeadLetters } from './commands/dead-letters.ts'
import { addDoctor } from './commands/doctor.ts'
import { addFiles } from './commands/files.ts'
import { addLogin } from './commands/login.ts'
import { addLogs } from './commands/logs.ts'
import { addNotebook } from './commands/notebook.ts'
import { addPlans } from './commands/plans.ts'
import { addRun } from './commands/run.ts'
import { addRuns } from './commands/runs.ts'
import { addShell } from './commands/shell.ts'
import { addKeys, addTenants } from './commands/tenants.ts'
import { addLimits } from './commands/limits.ts'
import { addUsage } from './commands/usage.ts'
import { addWorker } from './commands/worker.ts'
import { CliError, EXIT } from './errors.ts'
import type { CommandContext, Io } from './io.ts'

const EPILOGUE = `
Environment:
  CELLBLOCK_URL      the server's address; else that of \`login\`, else http://127.0.0.1:8787
  CELLBLOCK_API_KEY  the API key; else that of \`login\`

Exit codes:
  0 done   1 the code failed   2 wrong usage   3 refused, or no server   124 timed out   130 interrupted
  A script that calls sys.exit(N) ends \`run\` with N.
`

/** Adds a command to the program. */
export type AddCommand = (program: Command, context: CommandContext) => void

/** Builds the program: every command with its options, examples and help, and the commands that another program adds. */
export function createProgram(context: CommandContext, more: readonly AddCommand[] = []): Command {
  const program = new Command('cellblock')
    .description('Runs code and notebooks in Cellblock sandboxes, and talks to models that do.')
    .version(manifest.version, '-V, --version', 'print the version')
    .showHelpAfterError('Add --help for the options and an example.')
    .helpCommand('help [command]', 'show help of a command')
    .addHelpText('after', EPILOGUE)
    .exitOverride()
    .configureOutput({ writeOut: context.io.out, writeErr: context.io.note })
  for (const add of [
    addLogin,
    addAccount,
    addRun,
    addNotebook,
    addChat,
    addShell,
    addContainers,
    addFiles,
    addRuns,
    addLogs,
    addUsage,
    addLimits,
    addTenants,
    addKeys,
    addPlans,
    addDeadLetters,
    addDoctor,
    addWorker,
    addCompletion,
    ...more,
  ])
    add(program, context)
  return program
}

/** Runs one command line and answers with the exit code. Errors become one sentence on standard error. */
export async function runProgram(args: readonly string[], io: Io, more: readonly AddCommand[] = []): Promise<number> {
  let code: number = EXIT.ok
  const program = createProgram({ io, exit: (value) => (code = value) }, more)
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    // Commander has printed its own errors, and help is one of them.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    // Ctrl-C ends a request or a question with an error of the platform.
    if (io.signal.aborted || error instanceof InterruptedError) return EXIT.cancelled
    if (!(error instanceof CliError)) throw error
    io.note(`${error.message}\n`)
    return error.exitCode
  }
}
