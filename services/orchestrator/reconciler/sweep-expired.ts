import { objectPrefix } from '../../core/object-keys.ts'
import type { DueRow } from '../../core/ports/table.ts'
import type { ReconcilerDeps } from '../deps.ts'

/** A file whose time has come: nobody sees it any more, and its bytes go before its row. */
export async function sweepFile(deps: Pick<ReconcilerDeps, 'table' | 'objects'>, { tenant, id }: DueRow): Promise<void> {
  await deps.objects.deletePrefix(objectPrefix(tenant, id))
  await deps.table.userFiles.remove(tenant, id)
}

/** Parts of an upload that was completed, cancelled or forgotten; the file that it became has bytes of its own. */
export async function sweepUpload(deps: Pick<ReconcilerDeps, 'table' | 'objects'>, { tenant, id }: DueRow): Promise<void> {
  await deps.objects.deletePrefix(objectPrefix(tenant, id))
  await deps.table.uploads.remove(tenant, id)
}

/** A conversation is due once it was deleted and no turn can add to it any more. */
export async function sweepConversation(deps: Pick<ReconcilerDeps, 'table'>, { tenant, id }: DueRow): Promise<void> {
  await deps.table.conversations.removeItems(tenant, id)
  await deps.table.conversations.remove(tenant, id)
}
