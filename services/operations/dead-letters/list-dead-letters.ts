import type { Execution } from '../../model/executions/execution.ts'
import type { Page, PageRequest } from '../../model/page.ts'
import type { ContainerStore } from '../../ports/container-store.ts'
import type { ExecutionStore } from '../../ports/execution-store.ts'

interface Stores {
  readonly containers: Pick<ContainerStore, 'list'>
  readonly executions: Pick<ExecutionStore, 'get' | 'listByContainer'>
}

const PAGE = 100

/**
 * Executions of a tenant that ended as dead letters, container by container. Reads until the page is full: there is no index of failures, because
 * they are few.
 */
export async function listDeadLetters(
  { executions, containers }: Stores,
  tenant: string,
  { after, limit, order }: PageRequest,
): Promise<Page<Execution>> {
  const rows: Execution[] = []
  const last = after === null ? null : await executions.get(tenant, after)
  if (after !== null && last === null) return { rows, hasMore: false }

  /** True when the page is full and another row exists. */
  async function readContainer(id: string, from: string | null): Promise<boolean> {
    for (let cursor = from; ;) {
      const page = await executions.listByContainer(tenant, id, { after: cursor, limit: PAGE, order })
      for (const row of page.rows) {
        if (row.reason !== 'dead_letter') continue
        if (rows.length === limit) return true
        rows.push(row)
      }
      cursor = page.rows.at(-1)?.id ?? null
      if (!page.hasMore || cursor === null) return false
    }
  }

  if (last !== null && (await readContainer(last.containerId, last.id))) return { rows, hasMore: true }
  for (let cursor = last?.containerId ?? null; ;) {
    const page = await containers.list(tenant, { after: cursor, limit: PAGE, order, name: null })
    for (const { id } of page.rows) if (await readContainer(id, null)) return { rows, hasMore: true }
    cursor = page.rows.at(-1)?.id ?? null
    if (!page.hasMore || cursor === null) return { rows, hasMore: false }
  }
}
