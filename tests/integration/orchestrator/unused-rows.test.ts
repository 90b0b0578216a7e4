import { describe, expect, it } from 'vitest'
import { CONTAINER_KEPT_MS } from '../../../services/core/containers/container.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { LIMITS } from '../../../services/core/limits.ts'
import { SANDBOX_CHECK_MS } from '../../../services/core/sandboxes/new-sandbox.ts'
import { newObjectKey, objectPrefix } from '../../../services/core/object-keys.ts'
import { responseRemoval, type ResponseRecord } from '../../../services/core/responses/response.ts'
import { executionRow, fileRow, responseRow, sandboxRow } from '../../support/rows.ts'
import { HOUR_MS, ReconcileScene } from './reconcile-scene.ts'

const scene = new ReconcileScene()

describe('what nobody uses any more', () => {
  it('goes: a container that never ran code, with its files', async () => {
    const container = await scene.newContainer()
    const objectKey = newObjectKey(container.tenant, 'files', container.id)
    await scene.storage.objects.put(objectKey, Buffer.from('x'), { contentType: 'text/plain' })
    await scene.storage.table.files.put(fileRow({ tenant: container.tenant, containerId: container.id, objectKey }))
    const created = scene.now
    await scene.passAt(created + CONTAINER_KEPT_MS - 1)
    expect(await scene.storage.table.containers.get(container.tenant, container.id)).toMatchObject({ deletedAt: null })
    await scene.passAt(created + CONTAINER_KEPT_MS + 1)
    await scene.passAt(scene.now + 1)
    expect(await scene.storage.table.containers.get(container.tenant, container.id)).toBeNull()
    expect(await scene.storage.table.files.all(container.tenant, container.id)).toEqual([])
    expect(await scene.storage.objects.head(objectKey)).toBeNull()
  })

  it('goes: every execution of a deleted container with its events, more of them than a page has', async () => {
    const container = await scene.newContainer()
    const { tenant, id: containerId } = container
    const rows = Array.from({ length: 230 }, (_, index) => executionRow({ tenant, containerId, createdAt: scene.now + index, dueAt: null }))
    await Promise.all(rows.map((row) => scene.storage.table.executions.create(row)))
    const owner = { kind: 'execution', tenant, id: rows[150]?.id ?? '' } as const
    const event = { seq: 0, at: scene.now, type: 'stdout', cell: 0, text: 'secret' } as const
    await scene.storage.table.events.append(owner, { firstSeq: 0, events: [event], fence: 1, sourceSeq: null })
    await scene.storage.table.containers.markDeleted(tenant, containerId, scene.now)
    await scene.passAt(scene.now + 1)
    const left = await Promise.all(rows.map((row) => scene.storage.table.executions.get(tenant, row.id)))
    expect(left.filter((row) => row !== null)).toEqual([])
    expect(await scene.storage.table.events.last(owner)).toBeNull()
    expect(await scene.storage.table.containers.get(tenant, containerId)).toBeNull()
  })

  it('goes: what a step still writes while its container is being deleted', async () => {
    const container = await scene.newContainer()
    const { tenant, id: containerId } = container
    const id = await scene.accept(container)
    const { table } = scene.storage
    const taken = await table.executions.acquireLease(tenant, id, { owner: 'w', now: scene.now, expiresAt: scene.now + LEASE_MS })
    if (taken.kind !== 'taken') throw new Error(taken.kind)
    const owner = { kind: 'execution', tenant, id } as const
    const say = (firstSeq: number) =>
      table.events.append(owner, {
        firstSeq,
        events: [{ seq: firstSeq, at: scene.now, type: 'stdout', cell: 0, text: 'secret' }],
        fence: taken.row.fence,
        sourceSeq: null,
      })
    await say(1)
    await table.containers.markDeleted(tenant, containerId, scene.now)
    await scene.passAt(scene.now + 1)
    await say(2)
    await table.files.put(fileRow({ tenant, containerId }))
    expect(await table.executions.get(tenant, id)).not.toBeNull()
    await scene.passAt(scene.now + LEASE_MS)
    expect(await table.executions.get(tenant, id)).toBeNull()
    expect(await table.events.last(owner)).toBeNull()
    expect(await table.files.all(tenant, containerId)).toEqual([])
    expect(await table.containers.get(tenant, containerId)).toBeNull()
  })

  it.each([
    ['30 days after its end', true, LIMITS.responseDays * 24 * HOUR_MS],
    ['an hour after its end when it was not to be stored', false, LIMITS.unstoredResponseMinutes * 60_000],
  ])('goes: a response %s', async (_, store, keptMs) => {
    const row: ResponseRecord = { ...responseRow({ createdAt: scene.now }), request: { ...responseRow().request, store } }
    const { tenant, id } = row
    await scene.storage.table.responses.create(row)
    const taken = await scene.storage.table.responses.acquireLease(tenant, id, {
      owner: 'w',
      now: scene.now,
      expiresAt: scene.now + LEASE_MS,
    })
    if (taken.kind !== 'taken') throw new Error(taken.kind)
    await scene.storage.objects.put(`${objectPrefix(tenant, id)}results/x`, Buffer.from('{}'), { contentType: 'application/json' })
    const end = { status: 'completed', completedAt: scene.now } as const
    await scene.storage.table.responses.commit(tenant, id, taken.row.fence, end, { removeAt: responseRemoval(row, scene.now) })
    const ended = scene.now
    await scene.passAt(ended + keptMs - 1)
    expect(await scene.storage.table.responses.get(tenant, id)).toMatchObject({ status: 'completed' })
    await scene.passAt(ended + keptMs + 1)
    expect(await scene.storage.table.responses.get(tenant, id)).toBeNull()
    expect(await scene.storage.objects.head(`${objectPrefix(tenant, id)}results/x`)).toBeNull()
  })
})

describe('an idle container', () => {
  it('is sent to sleep, and gives a sandbox up in which nothing ran', async () => {
    const container = await scene.newContainer()
    const idleAt = scene.now + scene.deps.hibernateAfterMs
    const asked = () => scene.sent.filter((message) => message.containerId === container.id)
    const sandbox = sandboxRow({ state: 'claimed', claimedBy: { tenant: container.tenant, containerId: container.id }, dueAt: idleAt + 2 })
    await scene.storage.table.sandboxes.create(sandbox)
    await scene.storage.table.containers.setSandbox(container.tenant, container.id, 0, {
      sandboxId: sandbox.id,
      stateLost: null,
      dueAt: idleAt,
    })
    await scene.passAt(idleAt - 1)
    expect(asked()).toEqual([])
    await scene.passAt(idleAt + 1)
    const { tenant, id: containerId, lastActiveAt: idleSince } = container
    expect(asked()).toEqual([{ v: 1, type: 'container.hibernate', tenant, containerId, idleSince }])
    for (const message of asked()) await scene.runStep()(message)
    expect(await scene.storage.table.containers.get(tenant, containerId)).toMatchObject({
      sandboxId: null,
      snapshot: null,
      stateLost: null,
      hibernating: null,
    })
    // A stop that got lost is made up for.
    await scene.passAt(scene.now + SANDBOX_CHECK_MS)
    await scene.passAt(scene.now + SANDBOX_CHECK_MS)
    expect(await scene.storage.table.sandboxes.get(sandbox.id)).toBeNull()
  })
})
