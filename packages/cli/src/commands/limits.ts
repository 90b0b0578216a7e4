import type { Command } from 'commander'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { bytesText, secondsText } from '../progress-bar.ts'

interface Limit {
  readonly value: number
  readonly unit: string
  readonly used: number | null
}
type Limits = Readonly<Record<string, Limit>>

/** What an operator can set for a tenant, by subject. All other limits are the same for everyone. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'At the same time': ['live_containers', 'concurrent_executions', 'queued_jobs', 'open_streams'],
  'Per second or day': ['requests_per_second', 'sandbox_seconds_per_day', 'dollars_per_day', 'model_tokens_per_day'],
  'One execution': ['timeout_seconds', 'cpu_seconds', 'output_bytes', 'displays', 'files_per_execution'],
  'One sandbox': ['processes', 'open_files', 'file_bytes', 'disk_bytes', 'inodes'],
  'Stored data': [
    'storage_bytes',
    'container_days',
    'execution_days',
    'response_days',
    'conversation_days',
    'file_days',
    'skill_days',
    'link_days',
  ],
}

export function addLimits(program: Command, { io }: CommandContext): void {
  program
    .command('limits')
    .description('Prints the limits of this key with their present use.')
    .option('--all', 'also the limits that are the same for everyone')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock limits', 'cellblock limits --all'))
    .action(async ({ all, json }: JsonOption & { readonly all?: true }) => {
      const found = await (await io.api()).call('GET', '/v1/limits')
      if (json) return printJson(io, found)
      const limits = found['limits'] as Limits
      const grouped = new Set(Object.values(GROUPS).flat())
      const others = Object.keys(limits).filter((name) => !grouped.has(name))
      const groups = { ...GROUPS, ...(all ? { 'The same for everyone': others } : {}) }
      for (const [title, names] of Object.entries(groups)) io.out(`${title}\n${groupTable(limits, names)}\n`)
      const memory = found['memory_limits'] as readonly { readonly memory_limit: string }[]
      io.out(
        `Memory: ${memory.map(({ memory_limit: tier }) => tier).join(', ')}\nImages: ${(found['images'] as readonly string[]).join(', ')}\n`,
      )
      if (!all) io.note(`${others.length} limits that are the same for everyone: --all\n`)
    })
}

function groupTable(limits: Limits, names: readonly string[]): string {
  const rows = names.flatMap((name) => {
    const limit = limits[name]
    if (limit === undefined) return []
    const used = limit.used === null ? '' : `${valueText(name, { ...limit, value: limit.used })} used`
    return [{ name: `  ${name}`, value: valueText(name, limit), used }]
  })
  // The columns need no names.
  return formatTable(rows).replace(/^.*\n/, '')
}

/** A value with its unit, as people write it. */
export function valueText(name: string, { value, unit }: Limit): string {
  if (name.includes('dollars')) return `$${value}`
  if (unit === 'bytes') return bytesText(value)
  // Seconds of a day's sandboxes are an amount, not a time of day.
  if (unit === 'seconds') return name.endsWith('_per_day') ? `${value.toLocaleString('en')} s` : secondsText(value)
  return unit === 'count' ? value.toLocaleString('en') : `${value.toLocaleString('en')} ${value === 1 ? unit.replace(/s$/, '') : unit}`
}
