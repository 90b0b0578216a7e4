import { claimId } from '../../../http/claim-id.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import type { Container } from '../../../model/containers/container.ts'
import { derivedId } from '../../../model/ids.ts'
import type { Described } from '../../../model/lazy-schema.ts'
import { LIMITS } from '../../../model/limits.ts'
import { containerOf, snapshotOf } from '../../../operations/access.ts'
import { forkContainer } from '../../../operations/containers/fork-container.ts'
import { Fork, Forks, renderForks } from './schema.ts'

const COMMON = {
  method: 'post',
  auth: 'session',
  scope: 'run',
  body: Fork,
  creates: 'container',
  answers: { 200: { description: 'The copies.', schema: Forks } },
} as const

const forkRoute = defineRoute({
  ...COMMON,
  path: '/v1/containers/{container_id}/fork',
  operationId: 'forkContainer',
  tag: 'Containers',
  summary: 'Copy a container',
  description:
    'Makes independent copies of an idle container, with its files and variables, and on a server with `--runtime gvisor` with its processes. The source continues. Random numbers of Python, NumPy, bash, R and JavaScript sessions differ in every copy. Links, ports and conversations stay with the source.',
  errors: ['container_not_found', 'conflict', 'sandbox_unavailable'],
  handle: async (call) => fork(call, await containerOf(call, call.param('container_id'), 'run')),
})

const startFromSnapshotRoute = defineRoute({
  ...COMMON,
  path: '/v1/snapshots/{snapshot_id}/containers',
  operationId: 'createContainersFromSnapshot',
  tag: 'Snapshots',
  summary: 'Create containers from a snapshot',
  description: 'Each has the files and variables of the snapshot, and its processes if it has some. The snapshot stays.',
  errors: ['snapshot_not_found', 'conflict', 'sandbox_unavailable'],
  handle: async (call) => fork(call, await snapshotOf(call, call.param('snapshot_id'), 'run')),
})

async function fork(call: Call<unknown, Described<typeof Fork>>, source: Container): Promise<Response> {
  const { body, deps, request } = call
  const { id, at, isReplay } = await claimId(call, 'container', { body: call.rawBody })
  const wanted = Array.from({ length: body.count ?? 1 }, (_, index) => ({
    id: derivedId('container', at, `${id}:${index}`),
    name: nameOf(source, index),
  }))
  const copies = await forkContainer(deps, source, { wanted, signal: request.signal })
  return json(200, renderForks(source, copies), isReplay ? { 'idempotent-replayed': 'true' } : {})
}

/** Calls that look a container up by its name find the source. */
function nameOf({ name }: Container, index: number): string {
  const ending = ` copy ${index + 1}`
  const head = Buffer.from(name).subarray(0, LIMITS.maxContainerNameBytes - ending.length)
  return `${head.toString().replace(/\uFFFD+$/, '')}${ending}`
}

export const forkRoutes: readonly AnyRoute[] = [forkRoute, startFromSnapshotRoute]
