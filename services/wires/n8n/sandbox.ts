import type { Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Scope } from '../../model/tenants/tenant.ts'
import { requireScope } from '../../operations/access.ts'
import { recallNamedContainer } from '../../operations/containers/named-container.ts'
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

/** The sandbox that the path names. Another tenant's sandbox is answered like one that does not exist. Throws ServiceError. */
export async function sandboxByUuid(call: Call, scope: Scope): Promise<Container> {
  const uuid = call.param('sandbox_uuid')
  requireScope(call.caller, scope)
  if (!isUuid(uuid))
    throw new ServiceError('invalid_request', 'The id of a sandbox is a lowercase UUID. Send the id that its creation answered.')
  const row = await recallNamedContainer(call, nameOf(uuid), scope)
  if (row === null) throw new ServiceError('container_not_found', 'sandbox not found')
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
