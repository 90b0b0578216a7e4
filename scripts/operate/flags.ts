import { parseArgs } from 'node:util'

/** An invalid argument; the message says which one and what to pass. */
export class UsageError extends Error {}

export type Flags<Name extends string> = Readonly<Partial<Record<Name, string | boolean>>>

/** `--name VALUE` for each of `values`, `--name` for each of `switches`. Throws UsageError. */
export function readFlags<Value extends string, Switch extends string = never>(
  args: readonly string[],
  values: readonly Value[],
  switches: readonly Switch[] = [],
): Flags<Value | Switch> {
  const options = Object.fromEntries([
    ...values.map((name) => [name, { type: 'string' }] as const),
    ...switches.map((name) => [name, { type: 'boolean' }] as const),
  ])
  try {
    return parseArgs({ args: [...args], options, allowPositionals: false }).values as Flags<Value | Switch>
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

export function numberOption<Name extends string>(
  flags: Flags<Name>,
  name: Name,
  { fallback, min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly fallback: number; readonly min?: number; readonly max?: number },
): number {
  const text = flags[name]
  if (text === undefined) return fallback
  const value = typeof text === 'string' && text.trim() !== '' ? Number(text) : Number.NaN
  if (!(value >= min && value <= max))
    throw new UsageError(`--${name} must be a number ${max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`}.`)
  return value
}

export function choiceOption<Name extends string, Choice extends string>(
  flags: Flags<Name>,
  name: Name,
  { choices, fallback }: { readonly choices: readonly Choice[]; readonly fallback: Choice },
): Choice {
  const text = flags[name]
  if (text === undefined) return fallback
  const found = choices.find((choice) => choice === text)
  if (found === undefined) throw new UsageError(`--${name} must be one of ${choices.join(', ')}.`)
  return found
}

/** Runs an operator's command: exit code 2 and the usage for invalid arguments, 1 and a sentence for a failure. */
export async function runOperation(usage: string, run: (args: readonly string[]) => Promise<number>): Promise<void> {
  const args = process.argv.slice(2)
  if (args.includes('--help')) return void process.stdout.write(usage)
  try {
    process.exitCode = await run(args)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(error instanceof UsageError ? `${message}\n\n${usage}` : `✗ ${message}\n`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}
