import type { Command } from 'commander'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'

interface Day {
  readonly date?: string
  readonly executions: number
  readonly sandbox_seconds: number
  readonly cost_usd: number
}

const rowOf = (day: Day): Readonly<Record<string, string>> => ({
  day: day.date ?? 'total',
  executions: String(day.executions),
  sandbox_seconds: day.sandbox_seconds.toFixed(1),
  cost_usd: day.cost_usd.toFixed(4),
})

export function addUsage(program: Command, { io }: CommandContext): void {
  program
    .command('usage')
    .description('Prints executions, sandbox seconds and estimated cost per day.')
    .option('--from <date>', 'first day, such as 2026-11-01; 30 days before the last unless given')
    .option('--to <date>', 'last day; today unless given')
    .option('--json', 'print JSON')
    .action(async (options: { readonly from?: string; readonly to?: string; readonly json?: true }) => {
      const query = new URLSearchParams({
        ...(options.from === undefined ? {} : { from: options.from }),
        ...(options.to === undefined ? {} : { to: options.to }),
      })
      const usage = (await (await io.api()).call('GET', `/v1/usage?${query.toString()}`)) as unknown as {
        readonly days: readonly Day[]
        readonly total: Day
      }
      io.out(options.json ? `${JSON.stringify(usage)}\n` : formatTable([...usage.days, usage.total].map(rowOf)))
    })

  program
    .command('limits')
    .description('Prints every limit of this key, with its present use.')
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: true }) => {
      const found = await (await io.api()).call('GET', '/v1/limits')
      if (options.json) return io.out(`${JSON.stringify(found)}\n`)
      const limits = Object.entries(found['limits'] as Readonly<Record<string, { value: number; unit: string; used: number | null }>>)
      io.out(
        formatTable(
          limits.map(([limit, { value, unit, used }]) => ({ limit, value: String(value), unit, used: used === null ? '' : String(used) })),
        ),
      )
    })
}
