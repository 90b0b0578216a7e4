import type { Command } from 'commander'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'

interface Sum {
  readonly executions: number
  readonly sandbox_seconds: number
  readonly model_input_tokens: number
  readonly model_output_tokens: number
  readonly cost_usd: number
}
interface Usage {
  readonly days: readonly (Sum & { readonly date: string })[]
  readonly total: Sum
}
interface UsageOptions extends JsonOption {
  readonly from?: string
  readonly to?: string
  readonly tenant?: string
}

const rowOf = (day: string, sum: Sum): Readonly<Record<string, string>> => ({
  day,
  executions: String(sum.executions),
  sandbox_seconds: sum.sandbox_seconds.toFixed(1),
  model_tokens: String(sum.model_input_tokens + sum.model_output_tokens),
  cost_usd: sum.cost_usd.toFixed(4),
})

export function addUsage(program: Command, { io }: CommandContext): void {
  program
    .command('usage')
    .description('Prints executions, sandbox seconds, model tokens and estimated cost per day.')
    .option('--from <date>', 'first day, such as 2026-11-01; 30 days before the last unless given')
    .option('--to <date>', 'last day; today unless given')
    .option('--tenant <id>', 'usage of this tenant; it needs a key with the scope admin')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock usage', 'cellblock usage --tenant tnt_… --from 2026-11-01 --json'))
    .action(async ({ from, to, tenant, json }: UsageOptions) => {
      const path = tenant === undefined ? '/v1/usage' : `/v1/admin/tenants/${encodeURIComponent(tenant)}/usage`
      const query = new URLSearchParams({ ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) })
      const usage = (await (await io.api()).call('GET', `${path}?${query.toString()}`)) as unknown as Usage
      if (json) return printJson(io, usage)
      io.out(formatTable([...usage.days.map((day) => rowOf(day.date, day)), rowOf('total', usage.total)]))
    })
}
