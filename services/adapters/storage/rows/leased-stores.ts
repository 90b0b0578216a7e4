import { EXECUTION_STATUSES, hasEnded, type Execution } from '../../../model/executions/execution.ts'
import { workKindOf, type WorkKindName } from '../../../model/executions/work-kinds.ts'
import type { DeliveryStore } from '../../../ports/delivery-store.ts'
import type { ExecutionStore } from '../../../ports/execution-store.ts'
import type { ResponseStore } from '../../../ports/response-store.ts'
import { RESPONSE_STATUSES, hasResponseEnded, type ResponseRecord } from '../../../model/responses/response.ts'
import { DELIVERY_STATUSES, type Delivery } from '../../../model/webhooks/webhook.ts'
import type { Items } from './items.ts'
import { listPartition, listSortKey } from './keys.ts'
import { createLeasedStore } from './leased-store.ts'
import { listPage } from './list-page.ts'
import { deliveryCodec, executionCodec, responseCodec } from './row-shapes.ts'

const ofContainer = (tenant: string, containerId: string, kind: WorkKindName): string => listPartition(tenant, `${kind}s`, containerId)

export function createExecutionStore(items: Items): ExecutionStore {
  const rows = createLeasedStore<Execution>(items, {
    name: 'execution',
    codec: executionCodec,
    live: EXECUTION_STATUSES.filter((status) => !hasEnded(status)),
    index: (row) => ({ lpk: ofContainer(row.tenant, row.containerId, workKindOf(row).name), lsk: listSortKey(row.createdAt, row.id) }),
  })
  return {
    ...rows,
    async listByContainer(tenant, containerId, { kind = 'execution', ...page }) {
      const after = page.after === null ? null : await rows.get(tenant, page.after)
      if (page.after !== null && (after?.containerId !== containerId || workKindOf(after).name !== kind))
        return { rows: [], hasMore: false }
      return listPage(items, executionCodec, { partition: ofContainer(tenant, containerId, kind), after, page })
    },
  }
}

export const createResponseStore = (items: Items): ResponseStore =>
  createLeasedStore<ResponseRecord>(items, {
    name: 'response',
    codec: responseCodec,
    live: RESPONSE_STATUSES.filter((status) => !hasResponseEnded(status)),
    index: () => ({}),
  })

const ofEndpoint = (tenant: string, endpointId: string): string => listPartition(tenant, 'deliveries', endpointId)

export function createDeliveryStore(items: Items): DeliveryStore {
  const rows = createLeasedStore<Delivery>(items, {
    name: 'delivery',
    codec: deliveryCodec,
    live: DELIVERY_STATUSES.filter((status) => status === 'pending'),
    index: ({ tenant, endpointId, createdAt, id, fanOut }) =>
      fanOut === null ? { lpk: ofEndpoint(tenant, endpointId), lsk: listSortKey(createdAt, id) } : {},
  })
  return {
    ...rows,
    async listByEndpoint(tenant, endpointId, page) {
      const after = page.after === null ? null : await rows.get(tenant, page.after)
      if (page.after !== null && after?.endpointId !== endpointId) return { rows: [], hasMore: false }
      return listPage<Delivery>(items, deliveryCodec, { partition: ofEndpoint(tenant, endpointId), after, page })
    },
  }
}
