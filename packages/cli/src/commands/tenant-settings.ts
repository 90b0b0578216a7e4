import { InvalidArgumentError, type Command } from 'commander'
import { formatTable } from '../format-table.ts'
import type { CommandContext } from '../io.ts'
import { examples, JSON_OPTION, printJson, type JsonOption } from '../json-output.ts'
import { plainText } from '../plain-text.ts'

/** Limits as the API takes them; null removes one. */
export type Limits = Readonly<Record<string, number | string | null>>
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 }
const pathOf = (tenant: string): string => `/v1/admin/tenants/${encodeURIComponent(tenant)}`

/**
 * Collects `NAME=VALUE`: a whole number with or without a unit, a memory tier, or `default`, which removes the limit. The server knows the names
 * and the bounds. Throws InvalidArgumentError.
 */
export function addLimit(word: string, earlier: Limits): Limits {
  const [, name = '', value = ''] = /^([a-z_]+)=(.+)$/.exec(word) ?? []
  if (name === '') throw new InvalidArgumentError('Give NAME=VALUE, such as live_containers=20.')
  if (value === 'default') return { ...earlier, [name]: null }
  const [, digits, unit = ''] = /^(\d+)([kmgt]?)$/.exec(value) ?? []
  // The values of this one are names of tiers.
  const isNumber = digits !== undefined && name !== 'memory_limit'
  return { ...earlier, [name]: isNumber ? Number(digits) * (UNITS[unit] ?? 1) : value }
}

export function addTenantLimits(tenants: Command, { io }: Pick<CommandContext, 'io'>): void {
  tenants
    .command('limits')
    .description('Prints the limits that apply to a tenant and what sets them, or changes limits of the tenant.')
    .argument('<tenant>')
    .argument('[limits...]', 'NAME=VALUE (k, m, g and t are powers of 1024); NAME=default removes a limit of the tenant', addLimit, {})
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants limits tnt_…', 'cellblock tenants limits tnt_… disk_bytes=256m cpu_seconds=default'))
    .action(async (tenant: string, changes: Limits, options: JsonOption) => {
      const api = await io.api()
      if (Object.keys(changes).length > 0) await api.call('POST', pathOf(tenant), { limits: changes })
      const found = await api.call('GET', `${pathOf(tenant)}/limits`)
      if (options.json) return printJson(io, found)
      const limits = Object.entries(found['limits'] as Readonly<Record<string, { value: number | string; unit: string; set_by: string }>>)
      io.out(formatTable(limits.map(([limit, { value, unit, set_by: set }]) => ({ limit, value: String(value), set, unit }))))
    })
}

interface PolicyOptions extends JsonOption {
  readonly toolOff?: readonly string[]
  readonly toolOn?: readonly string[]
  readonly linkDays?: number
}

/** Throws InvalidArgumentError. */
function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number.')
}
const collect = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value]

export function addTenantPolicy(tenants: Command, { io }: Pick<CommandContext, 'io'>): void {
  tenants
    .command('policy')
    .description('Prints what a tenant may do, or changes it: tools that are off, life of links. Running responses keep their policy.')
    .argument('<tenant>')
    .option('--tool-off <type>', 'disables a tool; may be repeated', collect)
    .option('--tool-on <type>', 'enables it again; may be repeated', collect)
    .option('--link-days <days>', 'links of the tenant live so long', wholeNumber)
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants policy tnt_… --tool-off web_search --link-days 2'))
    .action(async (tenant: string, { toolOff = [], toolOn = [], linkDays, json }: PolicyOptions) => {
      const api = await io.api()
      const before = await api.call('GET', pathOf(tenant))
      const toolsOff = [...new Set([...(before['tools_off'] as readonly string[]), ...toolOff])]
        .filter((type) => !toolOn.includes(type))
        .toSorted()
      const change = {
        ...(toolOff.length + toolOn.length === 0 ? {} : { tools_off: toolsOff }),
        ...(linkDays === undefined ? {} : { link_days: linkDays }),
      }
      const after = Object.keys(change).length === 0 ? before : await api.call('POST', pathOf(tenant), change)
      const policy = { tenant, tools_off: after['tools_off'] as readonly string[], link_days: after['link_days'] as number | null }
      if (json) return printJson(io, policy)
      const { tools_off: off, link_days: days } = policy
      io.out(`tools off  ${plainText(off.join(', ')) || 'none'}\nlink days  ${days ?? 'default'}\n`)
    })
}

interface NetworkOptions extends JsonOption {
  readonly host?: readonly string[]
  readonly preset?: readonly string[]
  readonly set?: string
  readonly none?: true
}

/** Throws InvalidArgumentError. */
function jsonObject(text: string): string {
  try {
    if (typeof JSON.parse(text) === 'object') return text
  } catch {
    // Refused below.
  }
  throw new InvalidArgumentError('Give JSON with the fields ceiling and default.')
}

export function addTenantNetwork(tenants: Command, { io }: Pick<CommandContext, 'io'>): void {
  tenants
    .command('network')
    .description(
      'Prints which hosts containers of a tenant may reach at most, or replaces them. It needs a server with CELLBLOCK_NETWORK=on.',
    )
    .argument('<tenant>')
    .option('--host <host>', 'such as api.example.com, *.example.com or *; may be repeated', collect)
    .option('--preset <name>', 'pypi, npm, cran, github-read or git; may be repeated', collect)
    .option('--set <json>', 'the whole setting, with rules and a default', jsonObject)
    .option('--none', 'allows nothing')
    .option(...JSON_OPTION)
    .addHelpText('after', examples('cellblock tenants network tnt_… --preset pypi --host api.example.com'))
    .action(async (tenant: string, { host = [], preset = [], set, none, json }: NetworkOptions) => {
      const api = await io.api()
      const ceiling = { allow: host.map((name) => ({ host: name })), presets: preset }
      const isChange = host.length + preset.length > 0
      const network = none ? null : set === undefined ? (isChange ? { ceiling } : undefined) : (JSON.parse(set) as unknown)
      const found = network === undefined ? await api.call('GET', pathOf(tenant)) : await api.call('POST', pathOf(tenant), { network })
      if (json) return printJson(io, { tenant, network: found['network'] })
      io.out(found['network'] === null ? 'nothing\n' : `${plainText(JSON.stringify(found['network'], null, 2))}\n`)
    })
}
