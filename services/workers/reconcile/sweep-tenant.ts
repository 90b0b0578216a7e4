import { tenantExports, tenantObjects } from '../../model/object-keys.ts'
import type { DueRow } from '../../ports/table.ts'
import type { TenantDeletion } from '../../model/tenants/tenant.ts'
import type { ReconcilerDeps } from '../deps.ts'

/** Interval between passes of a deletion, milliseconds; meanwhile sandboxes stop and caches of keys expire. */
const NEXT_PASS_MS = 15_000
const CONTAINERS_PER_PASS = 500
/** The longest time limit of code, milliseconds: a step that began before the deletion has then written its last row. */
const LATE_PASS_MS = 3_600_000
/** A pass ends after this, milliseconds, wherever it is: other due rows wait for it, and a function ends after two minutes. */
const PASS_MS = 20_000

/**
 * One pass of the deletion of a tenant. Containers first, because their sandboxes have to stop; then all rows and objects. A pass
 * ends after some time, and the next one continues there. A running step may write again, so the deletion is complete when a search from the beginning
 * to the end finds nothing. Another search an hour later removes what such a step wrote after that. A tenant that was not deleted is due when its stored export is too old.
 */
export async function sweepTenant(
  deps: Pick<ReconcilerDeps, 'table' | 'objects' | 'queue' | 'clock' | 'telemetry'>,
  { id }: DueRow,
): Promise<void> {
  const { table, objects, clock, telemetry } = deps
  const tenant = await table.tenants.get(id)
  const deletion = tenant?.deletion
  if (deletion === undefined) return removeExport(deps, id)
  const now = clock.now()
  // First, so that a pass that does not end is not repeated at once.
  await table.tenants.noteDeletion(id, deletion, now + NEXT_PASS_MS)
  const page = { after: null, limit: CONTAINERS_PER_PASS, order: 'asc', name: null } as const
  const lists = [await table.containers.list(id, page), await table.containers.list(id, { ...page, isSnapshot: true })]
  const rows = lists.flatMap((list) => list.rows)
  for (const container of rows) {
    await table.containers.markDeleted(id, container.id, now)
    if (container.sandboxId !== null)
      await deps.queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId: container.sandboxId }, { group: id })
  }
  if (rows.length > 0) return
  const isOver = () => clock.now() >= now + PASS_MS
  const { search, ...before } = deletion
  const removed = await table.tenantRows.remove(id, search?.cursor ?? null, isOver)
  const removedObjects = (await objects.deletePrefix(tenantObjects(id), isOver)) + (await objects.deletePrefix(tenantExports(id)))
  const found = (search?.removed ?? 0) + removed.count + removedObjects
  const isEmpty = removed.cursor === null && found === 0
  const isFirstEnd = isEmpty && deletion.completedAt === null
  const after: TenantDeletion = {
    ...before,
    removedRows: deletion.removedRows + removed.count,
    removedObjects: deletion.removedObjects + removedObjects,
    completedAt: isFirstEnd ? clock.now() : deletion.completedAt,
    ...(removed.cursor !== null && { search: { cursor: removed.cursor, removed: found } }),
  }
  await table.tenants.noteDeletion(id, after, nextPassAt(clock.now(), { isEmpty, isFirstEnd }))
  telemetry.emit({
    event: 'tenant_deletion',
    outcome: isEmpty ? 'complete' : 'running',
    tenant: id,
    rows: removed.count,
    objects: removedObjects,
  })
}

function nextPassAt(now: number, { isEmpty, isFirstEnd }: { readonly isEmpty: boolean; readonly isFirstEnd: boolean }): number | null {
  if (isFirstEnd) return now + LATE_PASS_MS
  return isEmpty ? null : now + NEXT_PASS_MS
}

async function removeExport({ table, objects }: Pick<ReconcilerDeps, 'table' | 'objects'>, id: string): Promise<void> {
  await objects.deletePrefix(tenantExports(id))
  await table.tenants.noteExport(id, null)
}
