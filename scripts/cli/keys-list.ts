import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { formatTable } from '../../packages/cli/src/format-table.ts'

const timeOf = (at: number | null): string => (at === null ? '' : new Date(at).toISOString())

export const keysList: Command = {
  usage: 'keys list [--json]',
  summary: 'list every API key by its id; the keys themselves are not stored',
  async run(args, deps) {
    const { values } = readArguments(args, [], { json: { type: 'boolean' } })
    const keys = await (await deps.tenants()).listKeys()
    const rows = keys.map((key) => ({
      key_id: key.id,
      tenant: key.tenant,
      name: key.name ?? '',
      subject: key.subject ?? '',
      scopes: key.scopes.join(','),
      created_at: timeOf(key.createdAt),
      last_used_at: timeOf(key.lastUsedAt),
      expires_at: timeOf(key.expiresAt),
      revoked_at: timeOf(key.revokedAt),
    }))
    if (values.json) deps.out(`${JSON.stringify(rows)}\n`)
    else if (rows.length === 0) deps.note('There is no key yet: make a tenant with `npm run cli -- tenants create NAME`.\n')
    else deps.out(formatTable(rows))
    return 0
  },
}
