import { parseArgs } from 'node:util'
import { BENCHES } from './registry.ts'

export interface BenchOptions {
  readonly isQuick: boolean
  readonly isJson: boolean
  readonly isBreakdown: boolean
  /** Path of a report with charts. */
  readonly html?: string
  /** Names of benches; all of them when empty. */
  readonly only: readonly string[]
}

export const USAGE = `Usage: npm run bench -- [--quick] [--json] [--breakdown] [--only NAME[,NAME]] [--html FILE]

  --quick      fewer runs, under two minutes on two cores
  --json       one JSON object on standard output and nothing else (say npm run --silent bench: npm prints a line first otherwise)
  --breakdown  also where the time of a live execution goes
  --html       also writes a report with charts to this file; a full run writes bench/results/latest.html as well
  --only       some of: ${BENCHES.map(({ name }) => name).join(', ')}
`

/** Throws an Error whose message says which argument cannot be used. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean' },
      json: { type: 'boolean' },
      breakdown: { type: 'boolean' },
      only: { type: 'string' },
      html: { type: 'string' },
    },
  })
  const only = values.only === undefined ? [] : values.only.split(',')
  const unknown = only.filter((name) => !BENCHES.some((bench) => bench.name === name))
  if (unknown.length > 0) throw new Error(`Unknown bench ${unknown.join(', ')}.`)
  return {
    isQuick: values.quick ?? false,
    isJson: values.json ?? false,
    isBreakdown: values.breakdown ?? false,
    only,
    ...(values.html !== undefined && { html: values.html }),
  }
}
