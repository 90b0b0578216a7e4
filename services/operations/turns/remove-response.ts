import { objectPrefix } from '../../model/object-keys.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Table } from '../../ports/table.ts'

/** Removes a response that has ended, with its events and objects. The row is removed last, so that a repetition finds the rest. */
export async function removeResponse(
  ports: { readonly table: Pick<Table, 'events' | 'responses'>; readonly objects: ObjectStore },
  tenant: string,
  id: string,
): Promise<void> {
  const { table, objects } = ports
  await Promise.all([table.events.removeAll({ kind: 'response', tenant, id }), objects.deletePrefix(objectPrefix(tenant, id))])
  await table.responses.remove(tenant, id)
}
