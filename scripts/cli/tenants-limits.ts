import { MEMORY_TIERS, type MemoryTier } from '../../services/model/limits.ts'
import { snakeCase } from '../../services/model/snake-case.ts'
import { limitsOf, NUMERIC_LIMITS, type TenantLimits } from '../../services/model/tenants/tenant-limits.ts'
import { readArguments } from './arguments.ts'
import { CommandError, UsageError, type Command } from './command.ts'
import { formatTable } from '../../packages/cli/src/format-table.ts'

const NAMES = new Map(Object.keys(NUMERIC_LIMITS).map((name) => [snakeCase(name), name]))
const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 }

/** Without NAME=VALUE it prints the limits. A change takes effect within ten seconds; a running sandbox keeps its limits. */
export const tenantsLimits: Command = {
  usage: 'tenants limits TENANT [NAME=VALUE …] [--json]',
  summary: 'show or change what a tenant may use; NAME=default removes a tenant-specific limit',
  async run(args, deps) {
    const assignments = args.filter((word) => /^[a-z_]+=/.test(word))
    const { values, positionals } = readArguments(
      args.filter((word) => !assignments.includes(word)),
      ['TENANT'],
      { json: { type: 'boolean' } },
    )
    const changes = assignments.map(readAssignment)
    const id = positionals[0] ?? ''
    const tenants = await deps.tenants()
    const tenant = await tenants.get(id)
    if (tenant === null) throw new CommandError(`No tenant ${JSON.stringify(id)} exists: \`tenants list\` shows the ids.`)

    const own = new Map<string, unknown>(Object.entries(tenant.policy?.limits ?? {}))
    for (const [name, value] of changes) {
      if (value === null) own.delete(name)
      else own.set(name, value)
    }
    const limits = Object.fromEntries(own) as Partial<TenantLimits>
    if (changes.length > 0) await tenants.setPolicy(id, { ...tenant.policy, limits })

    const rows = Object.entries(limitsOf(limits)).map(([name, value]) => ({
      limit: snakeCase(name),
      value: String(value),
      set: own.has(name) ? 'tenant' : 'default',
    }))
    if (values.json)
      deps.out(
        `${JSON.stringify({ tenant: id, limits: Object.fromEntries(rows.map((row) => [row.limit, limitsOf(limits)[keyOf(row.limit)]])) })}\n`,
      )
    else deps.out(formatTable(rows))
    return 0
  },
}

const keyOf = (wire: string): keyof TenantLimits => (NAMES.get(wire) ?? 'memoryLimit') as keyof TenantLimits

/** Parses `disk_bytes=256m`; null removes the limit. Throws UsageError. */
function readAssignment(word: string): readonly [name: keyof TenantLimits, value: number | MemoryTier | null] {
  const [wire = '', text = ''] = word.split('=', 2)
  const known = [...NAMES.keys(), 'memory_limit']
  if (!known.includes(wire)) throw new UsageError(`There is no limit ${JSON.stringify(wire)}. Known: ${known.join(', ')}.`)
  const name = keyOf(wire)
  if (text === 'default') return [name, null]
  if (name === 'memoryLimit') {
    const tier = MEMORY_TIERS.find((one) => one === text)
    if (tier === undefined) throw new UsageError(`memory_limit takes one of ${MEMORY_TIERS.join(', ')}, or default.`)
    return [name, tier]
  }
  const { min, max } = NUMERIC_LIMITS[name] as { min: number; max: number }
  const [, digits = '', unit = ''] = /^(\d+)([kmgt]?)$/.exec(text) ?? []
  const value = Number(digits || Number.NaN) * (UNITS[unit] ?? 1)
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw new UsageError(`${wire} takes a whole number from ${min} to ${max} (k, m, g and t are powers of 1024), or default.`)
  return [name, value]
}
