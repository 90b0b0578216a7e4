import { createContainer, type NewContainer } from '../../../core/containers/create-container.ts'
import type { Container } from '../../../core/containers/container.ts'
import { isVisible } from '../../access.ts'
import type { Call } from '../../http/route.ts'

export type SessionCall = Pick<Call, 'deps' | 'caller'>

/** A session of this wire is a container: uploads and executions each create one. */
export const newSession = (
  { deps, caller }: SessionCall,
  wanted: Partial<Pick<NewContainer, 'id' | 'name' | 'image'>> = {},
): Promise<Container> =>
  createContainer(
    deps.table,
    { tenant: caller.tenant, subject: caller.subject, name: 'librechat', memoryTier: '1g', ...wanted },
    deps.clock.now(),
  )

/** A new container without a runtime hint, otherwise the container of the hint: the newest with its name. `image` is that of a new one. */
export async function openSession(
  call: SessionCall,
  hint: string | undefined,
  image?: string,
): Promise<{ readonly container: Container; readonly isNew: boolean }> {
  const { deps, caller } = call
  const chosen = image === undefined ? {} : { image }
  if (hint === undefined) return { container: await newSession(call, chosen), isNew: true }
  const name = `librechat:${hint}`
  const { rows } = await deps.table.containers.list(caller.tenant, { after: null, limit: 1, order: 'desc', name })
  const found = rows.find((row) => row.deletedAt === null && isVisible(row, caller))
  return found === undefined ? { container: await newSession(call, { name, ...chosen }), isNew: true } : { container: found, isNew: false }
}
