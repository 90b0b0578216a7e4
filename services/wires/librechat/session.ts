import { defaultPolicy } from '../../operations/network/new-policy.ts'
import { createContainer, type NewContainer } from '../../operations/containers/create-container.ts'
import { findOrCreateNamed, type NamedContainer } from '../../operations/containers/named-container.ts'
import type { Container } from '../../model/containers/container.ts'
import type { ApiDeps } from '../../http/deps.ts'
import type { Call } from '../../http/route.ts'

export type SessionCall = Pick<Call, 'caller'> & { readonly deps: Pick<ApiDeps, 'table' | 'objects' | 'clock' | 'limits' | 'network'> }

/** A session of this wire is a container: uploads and executions each create one. */
export const newSession = async (
  { deps, caller }: SessionCall,
  wanted: Partial<Pick<NewContainer, 'id' | 'name' | 'image'>> = {},
): Promise<Container> =>
  createContainer(
    deps.table,
    {
      tenant: caller.tenant,
      subject: caller.subject,
      name: 'librechat',
      memoryTier: '1g',
      network: await defaultPolicy(deps, caller.tenant),
      ...wanted,
    },
    deps.clock.now(),
  )

/** A new container without a runtime hint, otherwise the container of the hint: the newest with its name. `image` is that of a new one. */
export async function findOrCreateSession(call: SessionCall, hint: string | undefined, image?: string): Promise<NamedContainer> {
  const chosen = image === undefined ? {} : { image }
  if (hint === undefined) return { container: await newSession(call, chosen), isNew: true }
  const name = `librechat:${hint}`
  return findOrCreateNamed(call, name, (id) => newSession(call, { ...chosen, name, id }))
}
