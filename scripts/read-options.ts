import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { CommandName } from './commands.ts'
import { USAGE } from './usage.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** The options of a command. An argument that cannot be used ends the process with exit code 2, a sentence and the usage. */
export function readOptions<const T extends Options>(
  command: CommandName,
  options: T,
): ReturnType<typeof parseArgs<{ options: T }>>['values'] {
  try {
    return parseArgs({ options }).values
  } catch (cause) {
    return refuseOption(command, cause instanceof Error ? cause.message : String(cause))
  }
}

/** Ends the process with exit code 2, the reason and the usage of the command. */
export function refuseOption(command: CommandName, reason: string): never {
  process.stderr.write(`✗ ${reason}\n\n${USAGE[command] ?? ''}`)
  process.exit(2)
}
