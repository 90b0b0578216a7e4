import { parseArgs } from 'node:util'

/** An argument that cannot be used; the message says which and what to give. */
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
  otherwise: number,
  { least = 0, most = Number.MAX_SAFE_INTEGER }: { readonly least?: number; readonly most?: number } = {},
): number {
  const text = flags[name]
  if (text === undefined) return otherwise
  const value = typeof text === 'string' && text.trim() !== '' ? Number(text) : Number.NaN
  if (!(value >= least && value <= most))
    throw new UsageError(`--${name} must be a number ${most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`}.`)
  return value
}

export function oneOf<Name extends string, Choice extends string>(
  flags: Flags<Name>,
  name: Name,
  choices: readonly Choice[],
  otherwise: Choice,
): Choice {
  const text = flags[name]
  if (text === undefined) return otherwise
  const found = choices.find((choice) => choice === text)
  if (found === undefined) throw new UsageError(`--${name} must be one of ${choices.join(', ')}.`)
  return found
}

/** Runs an operator's command: exit code 2 and its usage for arguments that cannot be used, 1 and a sentence for what went wrong. */
export async function runOperation(usage: string, run: (args: readonly string[]) => Promise<number>): Promise<void> {
  const args = process.argv.slice(2)
  if (args.includes('--help')) return void process.stdout.write(usage)
  try {
    process.exitCode = await run(args)
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    process.stderr.write(error instanceof UsageError ? `${said}\n\n${usage}` : `✗ ${said}\n`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}
