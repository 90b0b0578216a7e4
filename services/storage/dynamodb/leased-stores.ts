import { TERMINAL_STATUSES } from '../../core/execution.ts'
import { TERMINAL_RESPONSE_STATUSES, type Response } from '../../core/response.ts'
import type { Execution } from '../../core/execution.ts'
import type { ExecutionStore, ResponseStore } from '../../core/ports/table.ts'
import type { Items } from './items.ts'
import { listPartition, listSortKey } from './keys.ts'
import { createLeasedStore } from './leased-store.ts'
import { listPage } from './list-page.ts'
import { executionCodec, responseCodec } from './row-shapes.ts'

const ofContainer = (tenant: string, containerId: string): string => listPartition(tenant, 'executions', containerId)

export function createExecutionStore(items: Items): ExecutionStore {
  const rows = createLeasedStore<Execution>(items, {
    name: 'execution',
    codec: executionCodec,
    terminal: TERMINAL_STATUSES,
    index: (row) => ({ lpk: ofContainer(row.tenant, row.containerId), lsk: listSortKey(row.createdAt, row.id) }),
  })
  return {
    ...rows,
    async listByContainer(tenant, containerId, page) {
      const after = page.after === null ? null : await rows.get(tenant, page.after)
      if (page.after !== null && after?.containerId !== containerId) return { rows: [], hasMore: false }
      return listPage(items, executionCodec, { partition: ofContainer(tenant, containerId), after, page })
    },
  }
}

export const createResponseStore = (items: Items): ResponseStore =>
  createLeasedStore<Response>(items, { name: 'response', codec: responseCodec, terminal: TERMINAL_RESPONSE_STATUSES, index: () => ({}) })
