import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { visibleTo } from '../../operations/access.ts'
import { createContainer } from '../../operations/containers/create-container.ts'
import { endContainer } from '../../operations/containers/end-container.ts'
import { findOrCreateNamed } from '../../operations/containers/named-container.ts'
import { defaultPolicy } from '../../operations/network/new-policy.ts'
import { collectPage } from '../../http/paging.ts'
import { readJsonMessage } from '../../http/read-json.ts'
import { json } from '../../http/responses.ts'
import type { AnyRoute, Call } from '../../http/route.ts'
import { MAX_PAGE } from '../../http/schemas.ts'
import { sandboxRoute } from './routing.ts'
import { describe, isUuid, nameOf, sandboxByUuid, uuidOf } from './sandbox.ts'

const CreateSandbox = lazySchema(() => openObject({ id: z.string().refine(isUuid, 'give a lowercase UUID').nullish() }))

/** A sandbox under the client's UUID, or under a new one. The one that exists is answered with 200. */
async function create(call: Call): Promise<Response> {
  const { deps, caller } = call
  const { id } = await readJsonMessage(call.request, CreateSandbox())
  const uuid = id ?? randomUUID()
  const name = nameOf(uuid)
  const { container, isNew } = await findOrCreateNamed(call, name, async (containerId) => {
    const network = await defaultPolicy(deps, caller.tenant)
    const wanted = { tenant: caller.tenant, subject: caller.subject, id: containerId, name, memoryTier: '1g', network } as const
    return createContainer(deps.table, wanted, deps.clock.now())
  })
  call.note('container_id', container.id)
  return json(isNew ? 201 : 200, describe(container, uuid))
}

/** The newest sandboxes, at most MAX_PAGE: the protocol has no pages. */
async function list({ deps, caller }: Call): Promise<Response> {
  const isVisible = visibleTo(caller, 'read')
  const { rows } = await collectPage(
    { after: null, limit: MAX_PAGE, order: 'desc' },
    (page) => deps.table.containers.list(caller.tenant, { ...page, name: null }),
    (row) => isVisible(row) && uuidOf(row) !== null,
  )
  return json(
    200,
    rows.map((row) => describe(row, uuidOf(row) ?? '')),
  )
}

const PATH = '/sandboxes/{sandbox_uuid}'

export const sandboxRoutes: readonly AnyRoute[] = [
  sandboxRoute({ method: 'post', path: '/sandboxes', scope: 'run', ownBody: CreateSandbox, handle: create }),
  sandboxRoute({ method: 'get', path: '/sandboxes', scope: 'read', handle: list }),
  sandboxRoute({
    method: 'get',
    path: PATH,
    scope: 'read',
    handle: async (call) => json(200, describe(await sandboxByUuid(call, 'read'), call.param('sandbox_uuid'))),
  }),
  sandboxRoute({
    method: 'delete',
    path: PATH,
    scope: 'run',
    handle: async (call) => {
      const { tenant, id } = await sandboxByUuid(call, 'run')
      await endContainer(call.deps, tenant, id)
      return new Response(null, { status: 204 })
    },
  }),
]
