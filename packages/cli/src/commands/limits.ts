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

const DETAILS = 'Bounds of single requests'

/** The groups in which limits are printed; a limit belongs to the first that fits. The server may have limits that this program does not know. */
const GROUPS: readonly (readonly [title: string, fits: (name: string, limit: Limit) => boolean])[] = [
  ['In use now or today', (_, { used }) => used !== null],
  ['Per second or day', (name) => /_per_(?:second|day)$/.test(name)],
  ['Kept for', (name) => name.endsWith('_days')],
  [DETAILS, (name) => /^(?:max|min|default)_/.test(name)],
  ['Executions, sandboxes and requests', () => true],
]

export function addLimits(program: Command, { io }: CommandContext): void {
  program
    .command('limits')
    .description('Prints the limits of this key with their present use.')
    .option('--all', 'also the bounds of single requests')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock limits', 'cellblock limits --all'))
    .action(async ({ all, json }: JsonOption & { readonly all?: true }) => {
      const found = await (await io.api()).call('GET', '/v1/limits')
      if (json) return printJson(io, found)
      const limits = found['limits'] as Limits
      const groups = Map.groupBy(Object.entries(limits), ([name, limit]) => GROUPS.findIndex(([, fits]) => fits(name, limit)))
      for (const [index, [title]] of GROUPS.entries())
        if (all || title !== DETAILS) io.out(`${title}\n${groupTable(groups.get(index) ?? [])}\n`)
      const memory = found['memory_limits'] as readonly { readonly memory_limit: string }[]
      io.out(
        `Memory: ${memory.map(({ memory_limit: tier }) => tier).join(', ')}\nImages: ${(found['images'] as readonly string[]).join(', ')}\n`,
      )
      if (!all) io.note('Bounds of single requests: --all\n')
    })
}

function groupTable(limits: readonly (readonly [name: string, limit: Limit])[]): string {
  const rows = limits.map(([name, limit]) => ({
    name: `  ${name}`,
    value: valueText(name, limit),
    used: limit.used === null ? '' : `${valueText(name, { ...limit, value: limit.used })} used`,
  }))
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
