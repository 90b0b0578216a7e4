import type { Execution } from '../../model/executions/execution.ts'
import type { Table } from '../../ports/table.ts'

/** Containers whose executions are read, the newest ones. */
export const RECENT_CONTAINERS = 50

/** That an execution ran and how it ended, without its code and its results. */
export type ExecutionSummary = Pick<
  Execution,
  'id' | 'containerId' | 'subject' | 'language' | 'status' | 'reason' | 'createdAt' | 'startedAt' | 'endedAt' | 'metadata'
>

/** The newest executions of a tenant's newest containers. Rows hold results, so one container is read at a time, and only summaries are kept. */
export async function recentExecutions(
  { containers, executions }: Pick<Table, 'containers' | 'executions'>,
  tenant: string,
  { limit, isVisible = () => true }: { readonly limit: number; readonly isVisible?: (row: Execution) => boolean },
): Promise<readonly ExecutionSummary[]> {
  const newest = { after: null, order: 'desc' } as const
  const { rows } = await containers.list(tenant, { ...newest, name: null, limit: RECENT_CONTAINERS })
  let found: readonly ExecutionSummary[] = []
  for (const { id } of rows) {
    const page = await executions.listByContainer(tenant, id, { ...newest, limit })
    const seen = page.rows.filter(isVisible).map(summaryOf)
    found = [...found, ...seen].toSorted((one, other) => other.createdAt - one.createdAt).slice(0, limit)
  }
  return found
}

function summaryOf({ language, ...row }: Execution): ExecutionSummary {
  const { id, containerId, subject, status, reason, createdAt, startedAt, endedAt, metadata } = row
  const fields = { id, containerId, subject, status, reason, createdAt, startedAt, endedAt, metadata }
  return language === undefined ? fields : { ...fields, language }
}
