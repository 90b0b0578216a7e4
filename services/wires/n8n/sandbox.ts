import { BoundedCache } from '../../model/bounded-cache.ts'
import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { visibleTo } from '../../operations/access.ts'
import { findNamedContainer } from '../../operations/containers/named-container.ts'
import type { ApiDeps } from '../../http/deps.ts'
import type { Call } from '../../http/route.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
export const isUuid = (text: string): boolean => UUID.test(text)

const PREFIX = 'n8n:'
/** A sandbox of this wire is the newest container with this name. */
export const nameOf = (uuid: string): string => PREFIX + uuid

/** Null for a container that is no sandbox of this wire. */
export function uuidOf({ name }: Pick<Container, 'name'>): string | null {
  const uuid = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : ''
  return isUuid(uuid) ? uuid : null
}

/** Ids of containers by what their callers know them as: without it, each call would search the list of the tenant's containers. */
const found = new WeakMap<ApiDeps['table']['containers'], BoundedCache<string, string>>()
const MAX_FOUND = 1_000

/** The sandbox that the path names. Another tenant's sandbox is answered like one that does not exist. Throws ServiceError. */
export async function sandboxByUuid(call: Call, scope: Scope): Promise<Container> {
  const { deps, caller } = call
  const isVisible = visibleTo(caller, scope)
  const uuid = call.param('sandbox_uuid')
  if (!isUuid(uuid))
    throw new ServiceError('invalid_request', 'The id of a sandbox is a lowercase UUID. Send the id that its creation answered.')
  const name = nameOf(uuid)
  const cache = found.get(deps.table.containers) ?? new BoundedCache<string, string>(MAX_FOUND)
  found.set(deps.table.containers, cache)
  const key = JSON.stringify([caller.tenant, caller.subject, uuid])
  const id = cache.get(key)
  const known = id === undefined ? null : await deps.table.containers.get(caller.tenant, id)
  if (known !== null && known.deletedAt === null && known.name === name && isVisible(known)) return known
  const row = await findNamedContainer(call, name, scope)
  if (row === null) throw new ServiceError('container_not_found', 'sandbox not found')
  cache.set(key, row.id)
  return row
}

/** Times are Unix seconds. */
export const describe = (container: Container, uuid: string): Readonly<Record<string, unknown>> => ({
  id: uuid,
  // The next command or file operation starts one that has been released.
  status: container.sandboxId === null && container.generation > 0 ? 'stopped' : 'running',
  created_at: Math.floor(container.createdAt / 1000),
  last_active_at: Math.floor(container.lastActiveAt / 1000),
})
