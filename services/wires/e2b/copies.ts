import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import type { Container } from '../../model/containers/container.ts'
import { parseLabel } from '../../model/containers/container-label.ts'
import { ServiceError } from '../../model/errors.ts'
import { isId, newId } from '../../model/ids.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { LIMITS } from '../../model/limits.ts'
import { snapshotOf, visibleTo } from '../../operations/access.ts'
import { endContainer } from '../../operations/containers/end-container.ts'
import { forkContainer } from '../../operations/containers/fork-container.ts'
import { collectPage } from '../../http/paging.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { newRootSecret } from './access-token.ts'
import { admit, endAt, newSession } from './admit.ts'
import { CONTAINER_NAME } from './list-sandboxes.ts'
import { sandboxOf } from './open-sandbox.ts'
import { bodyOf, e2bRoute } from './routing.ts'
import { changeSession, sessionOf, type Session } from './session.ts'
import { isImage } from './templates.ts'

const MAX_SECONDS = 86_400
/** Time of a copy for which a client names none. */
const DEFAULT_FORK_SECONDS = 15
const MAX_PAGE = 100
/** Clients may write a tag behind the name of a template; snapshots have this one. */
const TAG = /:default$/

const Fork = lazySchema(() =>
  openObject({ timeout: z.number().min(0).max(MAX_SECONDS).nullish(), count: z.int().min(1).max(LIMITS.maxForks).default(1) }),
)
const NewSnapshot = lazySchema(() =>
  openObject({
    name: z
      .string()
      .min(1)
      .max(LIMITS.maxContainerNameBytes / 4)
      .nullish(),
  }),
)

/** Throws ServiceError. */
export async function copiesFor({ deps, request }: Call, source: Container, count: number): Promise<readonly [Container, ...Container[]]> {
  const wanted = Array.from({ length: count }, () => ({ id: newId('container'), name: CONTAINER_NAME }))
  const [first, ...others] = await forkContainer(deps, source, { wanted, signal: request.signal })
  if (first === undefined) throw new Error('A copy was not stored')
  return [first, ...others]
}

/** What a copy has of the session of its source: neither its tokens nor its watchers. */
export function sessionOfCopy(source: Container, template: string): Session {
  const before = sessionOf(source) ?? newSession(template)
  return { ...before, template, secrets: { root: newRootSecret() }, grants: [], watchers: [], isPaused: false }
}

async function fork(call: Call): Promise<Response> {
  const row = await sandboxOf(call, 'run')
  const { count, timeout } = await bodyOf(call, Fork())
  const template = sessionOf(row)?.template ?? row.image ?? 'base'
  const session = { ...sessionOfCopy(row, template), endAt: endAt(call, timeout ?? DEFAULT_FORK_SECONDS) }
  const copies = await copiesFor(call, row, count)
  // Each has its own secret, from which its tokens are derived.
  const admitted = copies.map((copy) => admit(call, copy, () => ({ ...session, secrets: { root: newRootSecret() } })))
  return json(
    201,
    (await Promise.all(admitted)).map((sandbox) => ({ sandbox })),
  )
}

const describe = ({ id, name }: Container): Readonly<Record<string, unknown>> => ({
  snapshotID: id,
  names: name === CONTAINER_NAME ? [] : [`${name}:default`],
})

async function createSnapshot(call: Call): Promise<Response> {
  const { deps, request } = call
  const row = await sandboxOf(call, 'run')
  const { name } = await bodyOf(call, NewSnapshot())
  const wanted = [{ id: newId('snapshot'), name: name ?? CONTAINER_NAME, isSnapshot: true }]
  const [snapshot] = await forkContainer(deps, row, { wanted, signal: request.signal })
  if (snapshot === undefined) throw new Error('A snapshot was not stored')
  await changeSession(call, snapshot, () => sessionOfCopy(row, sessionOf(row)?.template ?? 'base'))
  return json(201, describe(snapshot))
}

async function listSnapshots({ deps, caller, request: { url } }: Call): Promise<Response> {
  const query = new URL(url).searchParams
  const sandboxId = query.get('sandboxID')
  const wanted = query.get('name')?.replace(TAG, '') ?? null
  const sourceId = sandboxId === null ? null : (parseLabel(sandboxId)?.containerId ?? sandboxId)
  const isVisible = visibleTo(caller, 'read')
  const limit = Math.min(MAX_PAGE, Math.max(1, Math.trunc(Number(query.get('limit') ?? MAX_PAGE)) || MAX_PAGE))
  const { rows, hasMore } = await collectPage(
    { after: query.get('nextToken'), limit, order: 'desc' },
    (page) =>
      deps.table.containers.list(caller.tenant, {
        ...page,
        name: wanted !== null && isId('snapshot', wanted) ? null : wanted,
        isSnapshot: true,
      }),
    (row) =>
      isVisible(row) && (sourceId === null || row.savedFrom === sourceId) && (wanted === null || row.id === wanted || row.name === wanted),
  )
  const last = rows.at(-1)
  return json(200, rows.map(describe), hasMore && last !== undefined ? { 'x-next-token': last.id } : {})
}

/** The snapshot that a template names, by its id or its name; null for another template. Throws ServiceError `snapshot_not_found` for an id without one. */
export async function snapshotOfTemplate(call: Pick<Call, 'deps' | 'caller'>, template: string): Promise<Container | null> {
  const { deps, caller } = call
  if (isImage(call, template)) return null
  const name = template.replace(TAG, '')
  if (isId('snapshot', name)) return snapshotOf(call, name, 'run')
  const page = { after: null, limit: 1, order: 'desc', name, isSnapshot: true } as const
  const { rows } = await collectPage(
    page,
    (request) => deps.table.containers.list(caller.tenant, { ...page, ...request }),
    visibleTo(caller, 'run'),
  )
  return rows[0] ?? null
}

async function deleteTemplate(call: Call): Promise<Response> {
  const snapshot = await snapshotOfTemplate(call, call.param('template_id'))
  if (snapshot === null)
    throw new ServiceError(
      'not_found',
      'No snapshot has this id or name. Templates are the images of this server; its operator builds them.',
    )
  await endContainer(call.deps, snapshot.tenant, snapshot.id)
  return new Response(null, { status: 204 })
}

const control = { plane: 'control', scope: 'run' } as const

export const copyRoutes: readonly AnyRoute[] = [
  e2bRoute({ ...control, method: 'post', path: '/sandboxes/{sandbox_id}/fork', body: Fork, handle: fork }),
  e2bRoute({ ...control, method: 'post', path: '/sandboxes/{sandbox_id}/snapshots', body: NewSnapshot, handle: createSnapshot }),
  e2bRoute({ ...control, scope: 'read', method: 'get', path: '/snapshots', handle: listSnapshots }),
  e2bRoute({ ...control, method: 'delete', path: '/templates/{template_id}', handle: deleteTemplate }),
]
