import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { formatTable } from '../../packages/cli/src/format-table.ts'

export const tenantsList: Command = {
  usage: 'tenants list [--json]',
  summary: 'list every tenant, oldest first',
  async run(args, deps) {
    const { values } = readArguments(args, [], { json: { type: 'boolean' } })
    const tenants = await (await deps.tenants()).list()
    const rows = tenants.map((tenant) => ({ tenant: tenant.id, name: tenant.name, created_at: new Date(tenant.createdAt).toISOString() }))
    if (values.json) deps.out(`${JSON.stringify(rows)}\n`)
    else if (rows.length === 0) deps.note('There is no tenant yet: make one with `npm run cli -- tenants create NAME`.\n')
    else deps.out(formatTable(rows))
    return 0
  },
}
