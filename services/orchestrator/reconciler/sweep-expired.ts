import { objectPrefix } from '../../core/object-keys.ts'
import type { DueRow } from '../../core/ports/table.ts'
import type { ReconcilerDeps } from '../deps.ts'

/** Removes an expired file, which is invisible already: bytes before the row. */
export async function sweepFile(deps: Pick<ReconcilerDeps, 'table' | 'objects'>, { tenant, id }: DueRow): Promise<void> {
  await deps.objects.deletePrefix(objectPrefix(tenant, id))
  await deps.table.userFiles.remove(tenant, id)
}

/** Removes the parts of a completed, cancelled or abandoned upload; a completed file has separate bytes. */
export async function sweepUpload(deps: Pick<ReconcilerDeps, 'table' | 'objects'>, { tenant, id }: DueRow): Promise<void> {
  await deps.objects.deletePrefix(objectPrefix(tenant, id))
  await deps.table.uploads.remove(tenant, id)
}

/** A conversation is due once it was deleted and no turn can add to it any more. */
export async function sweepConversation(deps: Pick<ReconcilerDeps, 'table'>, { tenant, id }: DueRow): Promise<void> {
  await deps.table.conversations.removeItems(tenant, id)
  await deps.table.conversations.remove(tenant, id)
}
