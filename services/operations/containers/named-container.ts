import { BoundedCache } from '../../model/bounded-cache.ts'
import type { Container } from '../../model/containers/container.ts'
import { newId } from '../../model/ids.ts'
import type { Page } from '../../model/page.ts'
import type { Caller, Scope } from '../../model/tenants/tenant.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Table } from '../../ports/table.ts'
import { visibleTo } from '../access.ts'

interface Reader {
  readonly deps: { readonly table: Pick<Table, 'containers' | 'idempotency'>; readonly clock: Clock }
  readonly caller: Caller
}

export interface NamedContainer {
  readonly container: Container
  /** This call created it. */
  readonly isNew: boolean
}

/** How long calls with one name meet at the claimed id, milliseconds. Later calls find the container by its name. */
const CLAIM_MS = 60_000
const PAGE = 20

/** The newest container with this name that the caller may see; null for none. Throws ServiceError `insufficient_scope`. */
export async function findNamedContainer({ deps, caller }: Reader, name: string, scope: Scope): Promise<Container | null> {
  const isVisible = visibleTo(caller, scope)
  for (let after: string | null = null; ;) {
    const page: Page<Container> = await deps.table.containers.list(caller.tenant, { after, limit: PAGE, order: 'desc', name })
    const found = page.rows.find((row) => row.deletedAt === null && isVisible(row))
    const last = page.rows.at(-1)
    if (found !== undefined || !page.hasMore || last === undefined) return found ?? null
    after = last.id
  }
}

/** Ids of containers by what their callers know them as: without it, each call would search the list of the tenant's containers. */
const found = new WeakMap<Reader['deps']['table']['containers'], BoundedCache<string, string>>()
const MAX_FOUND = 1_000

/** The same for a wire whose calls name one container again and again: while the container that was found exists, a newer one with its name is not looked for. */
export async function recallNamedContainer(reader: Reader, name: string, scope: Scope): Promise<Container | null> {
  const { deps, caller } = reader
  const isVisible = visibleTo(caller, scope)
  const cache = found.get(deps.table.containers) ?? new BoundedCache<string, string>(MAX_FOUND)
  found.set(deps.table.containers, cache)
  const key = JSON.stringify([caller.tenant, caller.subject, name])
  const id = cache.get(key)
  const known = id === undefined ? null : await deps.table.containers.get(caller.tenant, id)
  if (known !== null && known.deletedAt === null && known.name === name && isVisible(known)) return known
  const row = await findNamedContainer(reader, name, scope)
  if (row !== null) cache.set(key, row.id)
  return row
}

/**
 * The container with this name, or the one that `create` stores under the given id. Simultaneous calls claim one id, so they create one container. A
 * deleted one is followed by another claim.
 */
export async function findOrCreateNamed(reader: Reader, name: string, create: (id: string) => Promise<Container>): Promise<NamedContainer> {
  const { deps, caller } = reader
  const found = await findNamedContainer(reader, name, 'run')
  if (found !== null) return { container: found, isNew: false }
  const scope = `container-name#${caller.subject ?? ''}`
  for (let deleted = ''; ;) {
    const now = deps.clock.now()
    const claim = { bodyHash: '', resultId: newId('container'), expiresAt: now + CLAIM_MS }
    const { record, isNew } = await deps.table.idempotency.claim(caller.tenant, { scope, key: `${deleted}#${name}`, record: claim, now })
    const id = record.resultId
    const row = await deps.table.containers.get(caller.tenant, id)
    if (row === null) {
      const created = await create(id)
      // If several calls create it at the same time, the first one is stored.
      return { container: (await deps.table.containers.get(caller.tenant, id)) ?? created, isNew }
    }
    if (row.deletedAt === null) return { container: row, isNew: false }
    deleted = id
  }
}
