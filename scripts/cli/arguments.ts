import { parseArgs, type ParseArgsConfig } from 'node:util'
import { UsageError } from './command.ts'

type Options = NonNullable<ParseArgsConfig['options']>
type Parsed<O extends Options> = ReturnType<typeof parseArgs<{ options: O; allowPositionals: true; strict: true; args: string[] }>>

/** Options and exactly the named positional arguments. Throws UsageError. */
export function readArguments<O extends Options>(args: readonly string[], names: readonly string[], options: O): Parsed<O> {
  const parsed = parse(args, options)
  const missing = names.slice(parsed.positionals.length)
  if (missing.length > 0)
    throw new UsageError(
      `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing. Add ${missing.length === 1 ? 'it' : 'them'} as the usage shows.`,
    )
  const extra = parsed.positionals.slice(names.length)
  if (extra.length > 0)
    throw new UsageError(`${JSON.stringify(extra[0])} is one argument too many. Remove it, or put quotes around an argument with spaces.`)
  return parsed
}

function parse<O extends Options>(args: readonly string[], options: O): Parsed<O> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}
