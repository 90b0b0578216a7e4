import * as z from 'zod'
import { claimId } from '../../../http/claim-id.ts'
import { collectPage } from '../../../http/paging.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute } from '../../../http/route.ts'
import { deletedSchema, listOf, pageOf, StrictListQuery } from '../../../http/schemas.ts'
import { containerOf, snapshotOf, visibleTo } from '../../../operations/access.ts'
import { endContainer } from '../../../operations/containers/end-container.ts'
import { forkContainer } from '../../../operations/containers/fork-container.ts'
import { CreateSnapshot, renderSnapshot, Snapshot, SnapshotList } from './schema.ts'

const TAG = 'Snapshots'

const createRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/snapshots',
  auth: 'session',
  scope: 'run',
  operationId: 'createSnapshot',
  tag: TAG,
  summary: 'Save a container as a snapshot',
  description:
    'Stores the files and variables of an idle container, and on a server with `--runtime gvisor` its processes, until the snapshot is deleted. The container continues. A snapshot counts as a container and as storage of the account.',
  body: CreateSnapshot,
  creates: 'snapshot',
  answers: { 200: { description: 'The snapshot.', schema: Snapshot } },
  errors: ['container_not_found', 'conflict', 'sandbox_unavailable'],
  async handle(call) {
    const source = await containerOf(call, call.param('container_id'), 'run')
    const { id, isReplay } = await claimId(call, 'snapshot', { body: call.rawBody })
    const wanted = [{ id, name: call.body.name ?? source.name, isSnapshot: true }]
    const [made] = await forkContainer(call.deps, source, { wanted, signal: call.request.signal })
    if (made === undefined) throw new Error('A snapshot was not stored')
    return json(200, renderSnapshot(made), isReplay ? { 'idempotent-replayed': 'true' } : {})
  },
})

const listRoute = defineRoute({
  method: 'get',
  path: '/v1/snapshots',
  auth: 'session',
  scope: 'read',
  operationId: 'listSnapshots',
  tag: TAG,
  summary: 'List snapshots',
  query: () =>
    StrictListQuery().extend({
      name: z.string().max(1_024).optional().openapi({ description: 'Only snapshots with this name.' }),
      container_id: z.string().max(200).optional().openapi({ description: 'Only snapshots of this container.' }),
    }),
  answers: { 200: { description: 'A page of snapshots.', schema: SnapshotList } },
  async handle({ deps, caller, query }) {
    const isVisible = visibleTo(caller, 'read')
    const page = await collectPage(
      pageOf(query),
      (request) => deps.table.containers.list(caller.tenant, { ...request, name: query.name ?? null, isSnapshot: true }),
      (row) => isVisible(row) && (query.container_id === undefined || row.savedFrom === query.container_id),
    )
    return json(200, listOf(page.rows.map(renderSnapshot), page.hasMore))
  },
})

const getRoute = defineRoute({
  method: 'get',
  path: '/v1/snapshots/{snapshot_id}',
  auth: 'session',
  scope: 'read',
  operationId: 'getSnapshot',
  tag: TAG,
  summary: 'Get a snapshot',
  answers: { 200: { description: 'The snapshot.', schema: Snapshot } },
  errors: ['snapshot_not_found'],
  handle: async (call) => json(200, renderSnapshot(await snapshotOf(call, call.param('snapshot_id'), 'read'))),
})

const deleteRoute = defineRoute({
  method: 'delete',
  path: '/v1/snapshots/{snapshot_id}',
  auth: 'session',
  scope: 'run',
  operationId: 'deleteSnapshot',
  tag: TAG,
  summary: 'Delete a snapshot',
  description: 'Containers that were made from it stay.',
  answers: { 200: { description: 'The snapshot is deleted.', schema: deletedSchema('snapshot.deleted') } },
  errors: ['snapshot_not_found'],
  async handle(call) {
    const { tenant, id } = await snapshotOf(call, call.param('snapshot_id'), 'run')
    await endContainer(call.deps, tenant, id)
    return json(200, { id, object: 'snapshot.deleted', deleted: true })
  },
})

export const snapshotRoutes: readonly AnyRoute[] = [createRoute, listRoute, getRoute, deleteRoute]
