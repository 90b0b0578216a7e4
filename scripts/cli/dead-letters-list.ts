import type { Execution } from '../../services/model/executions/execution.ts'
import type { Table } from '../../services/ports/table.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { formatTable } from '../../packages/cli/src/format-table.ts'

const PAGE = 100

export const deadLettersList: Command = {
  usage: 'dead-letters list [--tenant TENANT] [--json]',
  summary: 'list executions that ended as dead letters, newest first in each container',
  async run(args, deps) {
    const { values } = readArguments(args, [], { tenant: { type: 'string' }, json: { type: 'boolean' } })
    const table = await deps.table()
    const tenants = values.tenant === undefined ? (await table.tenants.list()).map(({ id }) => id) : [values.tenant]
    const rows: Record<string, string>[] = []
    for (const tenant of tenants)
      for await (const execution of deadLettersOf(table, tenant))
        rows.push({
          tenant,
          execution: execution.id,
          container: execution.containerId,
          ended_at: new Date(execution.endedAt ?? execution.createdAt).toISOString(),
          may_have_run: execution.sandboxId === null ? 'no' : 'yes',
          trace: execution.traceparent?.split('-')[1] ?? '',
        })
    if (values.json === true) deps.out(`${JSON.stringify(rows)}\n`)
    else if (rows.length === 0) deps.note('There is no dead letter.\n')
    else deps.out(formatTable(rows))
    return 0
  },
}

/** Reads every container of the tenant: there is no index of failures, because they are few. */
async function* deadLettersOf(table: Table, tenant: string): AsyncGenerator<Execution> {
  for (let after: string | null = null; ;) {
    const containers = await table.containers.list(tenant, { after, limit: PAGE, order: 'desc', name: null })
    for (const { id } of containers.rows) yield* deadLettersIn(table, tenant, id)
    after = containers.rows.at(-1)?.id ?? null
    if (!containers.hasMore || after === null) return
  }
}

async function* deadLettersIn(table: Table, tenant: string, containerId: string): AsyncGenerator<Execution> {
  for (let after: string | null = null; ;) {
    const { rows, hasMore } = await table.executions.listByContainer(tenant, containerId, { after, limit: PAGE, order: 'desc' })
    yield* rows.filter(({ reason }) => reason === 'dead_letter')
    after = rows.at(-1)?.id ?? null
    if (!hasMore || after === null) return
  }
}
