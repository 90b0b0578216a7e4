import { CommandError, UsageError, type CliDeps } from './command.ts'
import { COMMANDS, usageText } from './commands.ts'

/** The words that name a command at the start of the arguments. */
const wordsOf = (args: readonly string[]): string | undefined =>
  [2, 1].map((count) => args.slice(0, count).join(' ')).find((name) => Object.hasOwn(COMMANDS, name))

export const isCommand = (args: readonly string[]): boolean => wordsOf(args) !== undefined

/** Finds the command by its words and runs it. Answers with the exit code; a refusal becomes a sentence on standard error. */
export async function runCommand(args: readonly string[], deps: CliDeps): Promise<number> {
  if (args[0] === undefined || ['help', '--help', '-h'].includes(args[0])) {
    if (args[0] === undefined) deps.note(usageText(deps.programCommands))
    else deps.out(usageText(deps.programCommands))
    return args[0] === undefined ? 2 : 0
  }
  const words = wordsOf(args)
  const command = words === undefined ? undefined : COMMANDS[words]
  if (words === undefined || command === undefined) {
    deps.note(`Unknown command ${JSON.stringify(args.slice(0, 2).join(' '))}.\n\n${usageText(deps.programCommands)}`)
    return 2
  }
  try {
    return await command.run(args.slice(words.split(' ').length), deps)
  } catch (error) {
    if (error instanceof UsageError) {
      deps.note(`${error.message}\nUsage: npm run cli -- ${command.usage}\n`)
      return 2
    }
    if (!(error instanceof CommandError)) throw error
    deps.note(`${error.message}\n`)
    return 1
  }
}
