import { objectPrefix } from '../object-keys.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Table } from '../ports/table.ts'

/** Takes away a response that nobody works on any more, with its events and objects. The row goes last, so that it can be repeated. */
export async function removeResponse(
  ports: { readonly table: Table; readonly objects: ObjectStore },
  tenant: string,
  id: string,
): Promise<void> {
  const { table, objects } = ports
  await Promise.all([table.events.removeAll({ kind: 'response', tenant, id }), objects.deletePrefix(objectPrefix(tenant, id))])
  await table.responses.remove(tenant, id)
}
