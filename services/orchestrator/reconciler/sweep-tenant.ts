import { tenantObjects } from '../../core/object-keys.ts'
import type { DueRow } from '../../core/ports/table.ts'
import type { ReconcilerDeps } from '../deps.ts'

/** Interval between passes of a deletion, milliseconds; meanwhile sandboxes stop and caches of keys expire. */
const NEXT_PASS_MS = 15_000
const CONTAINERS_PER_PASS = 500

/**
 * One pass of the deletion of a tenant. Containers first, because their sandboxes have to stop; then all rows and objects. A running step may write
 * again, so the deletion is complete when a pass finds nothing.
 */
export async function sweepTenant(
  deps: Pick<ReconcilerDeps, 'table' | 'objects' | 'queue' | 'clock' | 'telemetry'>,
  { id }: DueRow,
): Promise<void> {
  const { table, objects, clock, telemetry } = deps
  const tenant = await table.tenants.get(id)
  const deletion = tenant?.deletion
  if (deletion === undefined || deletion.completedAt !== null) return
  const now = clock.now()
  const page = { after: null, limit: CONTAINERS_PER_PASS, order: 'asc', name: null } as const
  const { rows } = await table.containers.list(id, page)
  for (const container of rows) {
    await table.containers.markDeleted(id, container.id, now)
    if (container.sandboxId !== null)
      await deps.queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: container.sandboxId }, { group: id })
  }
  if (rows.length > 0) {
    await table.tenants.noteDeletion(id, deletion, now + NEXT_PASS_MS)
    return
  }
  const removedRows = await table.tenantRows.removeAll(id)
  const removedObjects = await objects.deletePrefix(tenantObjects(id))
  const isComplete = removedRows === 0 && removedObjects === 0
  const after = {
    ...deletion,
    removedRows: deletion.removedRows + removedRows,
    removedObjects: deletion.removedObjects + removedObjects,
    completedAt: isComplete ? now : null,
  }
  await table.tenants.noteDeletion(id, after, isComplete ? null : now + NEXT_PASS_MS)
  telemetry.emit({
    event: 'tenant_deletion',
    outcome: isComplete ? 'complete' : 'running',
    tenant: id,
    rows: removedRows,
    objects: removedObjects,
  })
}
