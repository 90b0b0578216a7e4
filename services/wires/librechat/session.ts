import { defaultPolicy } from '../../operations/network/new-policy.ts'
import { createContainer, type NewContainer } from '../../operations/containers/create-container.ts'
import type { Container } from '../../model/containers/container.ts'
import { newId } from '../../model/ids.ts'
import type { Page } from '../../model/page.ts'
import { visibleTo } from '../../operations/access.ts'
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

/** How long calls with one hint meet at the claimed id, milliseconds. Later calls find the container by its name. */
const CLAIM_MS = 60_000
const PAGE = 20

interface Session {
  readonly container: Container
  readonly isNew: boolean
}

/** A new container without a runtime hint, otherwise the container of the hint: the newest with its name. `image` is that of a new one. */
export async function findOrCreateSession(call: SessionCall, hint: string | undefined, image?: string): Promise<Session> {
  const chosen = image === undefined ? {} : { image }
  if (hint === undefined) return { container: await newSession(call, chosen), isNew: true }
  const name = `librechat:${hint}`
  const found = await findByName(call, name)
  return found === null ? createOnce(call, { ...chosen, name }) : { container: found, isNew: false }
}

/** The newest container with this name that the caller may see. */
async function findByName({ deps, caller }: SessionCall, name: string): Promise<Container | null> {
  const isVisible = visibleTo(caller, 'run')
  for (let after: string | null = null; ;) {
    const page: Page<Container> = await deps.table.containers.list(caller.tenant, { after, limit: PAGE, order: 'desc', name })
    const found = page.rows.find((row) => row.deletedAt === null && isVisible(row))
    const last = page.rows.at(-1)
    if (found !== undefined || !page.hasMore || last === undefined) return found ?? null
    after = last.id
  }
}

/** Creates the container of a name. Simultaneous calls claim one id, so they create one container. A deleted one is followed by another claim. */
async function createOnce(call: SessionCall, wanted: { readonly name: string; readonly image?: string }): Promise<Session> {
  const { deps, caller } = call
  const { containers, idempotency } = deps.table
  const scope = `librechat-session#${caller.subject ?? ''}`
  for (let deleted = ''; ;) {
    const now = deps.clock.now()
    const claim = { bodyHash: '', resultId: newId('container'), expiresAt: now + CLAIM_MS }
    const { record } = await idempotency.claim(caller.tenant, { scope, key: `${deleted}#${wanted.name}`, record: claim, now })
    const id = record.resultId
    const row = await containers.get(caller.tenant, id)
    if (row === null) {
      const created = await newSession(call, { ...wanted, id })
      // If several calls create it at the same time, the first one is stored.
      return { container: (await containers.get(caller.tenant, id)) ?? created, isNew: true }
    }
    if (row.deletedAt === null) return { container: row, isNew: false }
    deleted = id
  }
}
