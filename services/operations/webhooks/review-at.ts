import { RECONCILE_AFTER_MS } from '../../model/lease.ts'
import { responseRemoval, type ResponseRecord } from '../../model/responses/response.ts'
import { firstRetentionCheck } from '../../model/tenants/retention.ts'
import { hasSubscribers, type PublishPorts } from './publish-event.ts'

/**
 * When the reconciler reads a response that ended at `completedAt`: soon where an endpoint waits for its event, because the process may die between
 * the end and the event; otherwise when its retention is checked. Epoch ms.
 */
export async function reviewAt(ports: Pick<PublishPorts, 'table' | 'clock'>, row: ResponseRecord, completedAt: number): Promise<number> {
  const isAwaited = await hasSubscribers(ports, row.tenant, 'response.').catch(() => true)
  return isAwaited ? completedAt + RECONCILE_AFTER_MS : Math.min(responseRemoval(row, completedAt), firstRetentionCheck(completedAt))
}
