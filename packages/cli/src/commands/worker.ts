import { InvalidArgumentError, type Command } from 'commander'
import { readClaudeConfig } from '../config.ts'
import { CliError, EXIT } from '../errors.ts'
import type { CommandContext } from '../io.ts'
import { examples } from '../json-output.ts'

const MAX_SESSIONS = 100

interface ClaudeOptions {
  readonly environment: string
  readonly image?: string
  readonly sessions: number
  readonly idle?: number
}

function wholeNumber(value: string): number {
  if (!/^[1-9]\d{0,4}$/.test(value)) throw new InvalidArgumentError('Give a whole number, at least 1.')
  return Number(value)
}

export function addWorker(program: Command, { io }: CommandContext): void {
  const worker = program.command('worker').summary('serve tool calls of agents elsewhere in containers')
  worker
    .command('claude')
    .summary("serve a self-hosted environment of Claude's managed agents")
    .description(
      "Serves sessions of a self-hosted environment of Claude's managed agents until Ctrl-C: each session gets a container, in which its tools run. The sandbox needs no network and has no key. ANTHROPIC_ENVIRONMENT_KEY has the key of the environment.",
    )
    .requiredOption('--environment <id>', 'the environment, such as env_…')
    .option('--image <name>', 'image of new containers, such as standard')
    .option('--sessions <number>', 'sessions at a time', wholeNumber, 4)
    .option('--idle <seconds>', 'leave a session without events for this time; its next message brings it back', wholeNumber)
    .addHelpText('after', examples('ANTHROPIC_ENVIRONMENT_KEY=… cellblock worker claude --environment env_…'))
    .action(async ({ environment, image, sessions, idle }: ClaudeOptions) => {
      const claude = readClaudeConfig()
      if (sessions > MAX_SESSIONS)
        throw new CliError(`One worker serves at most ${MAX_SESSIONS} sessions. Start several.`, { exitCode: EXIT.usage })
      const api = await io.api()
      await api.call('GET', '/v1/limits')
      io.note(`Serving ${environment}. Ctrl-C stops.\n`)
      // Only this command needs the SDK.
      const { runClaudeWorker } = await import('../claude/run-worker.ts')
      const maxIdleMs = idle === undefined ? undefined : idle * 1000
      await runClaudeWorker(api, { ...claude, environmentId: environment, image, sessions, maxIdleMs }, io)
    })
}
