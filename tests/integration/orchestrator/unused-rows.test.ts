import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { SANDBOX_CHECK_MS } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { newId } from '../../../services/model/ids.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { newObjectKey, objectPrefix } from '../../../services/model/object-keys.ts'
import { responseRemoval, type ResponseRecord } from '../../../services/model/responses/response.ts'
import { executionRow, fileRow, responseRow, sandboxRow } from '../../support/rows.ts'
import { HOUR_MS, ReconcileFixture } from './reconcile-fixture.ts'

const fixture = new ReconcileFixture()
const CONTAINER_KEPT_MS = LIMITS.retentionDays * 24 * HOUR_MS

describe('the reconciler removes', () => {
  it('a container that never ran code, with its files', async () => {
    const container = await fixture.newContainer()
    const objectKey = newObjectKey(container.tenant, 'files', container.id)
    await fixture.storage.objects.put(objectKey, Buffer.from('x'), { contentType: 'text/plain' })
    await fixture.storage.table.files.put(fileRow({ tenant: container.tenant, containerId: container.id, objectKey }))
    const created = fixture.now
    await fixture.passAt(created + CONTAINER_KEPT_MS - 1)
    expect(await fixture.storage.table.containers.get(container.tenant, container.id)).toMatchObject({ deletedAt: null })
    await fixture.passAt(created + CONTAINER_KEPT_MS + 1)
    await fixture.passAt(fixture.now + 1)
    expect(await fixture.storage.table.containers.get(container.tenant, container.id)).toBeNull()
    expect(await fixture.storage.table.files.all(container.tenant, container.id)).toEqual([])
    expect(await fixture.storage.objects.head(objectKey)).toBeNull()
  })

  it('every execution of a deleted container with its events, across pages', async () => {
    const container = await fixture.newContainer()
    const { tenant, id: containerId } = container
    const rows = Array.from({ length: 230 }, (_, index) =>
      executionRow({ tenant, containerId, createdAt: fixture.now + index, dueAt: null }),
    )
    await Promise.all(rows.map((row) => fixture.storage.table.executions.create(row)))
    const owner = { kind: 'execution', tenant, id: rows[150]?.id ?? '' } as const
    const event = { seq: 0, at: fixture.now, type: 'stdout', cell: 0, text: 'secret' } as const
    await fixture.storage.table.events.append(owner, { firstSeq: 0, events: [event], fence: 1, sourceSeq: null })
    await fixture.storage.table.containers.markDeleted(tenant, containerId, fixture.now)
    await fixture.passAt(fixture.now + 1)
    const left = await Promise.all(rows.map((row) => fixture.storage.table.executions.get(tenant, row.id)))
    expect(left.filter((row) => row !== null)).toEqual([])
    expect(await fixture.storage.table.events.last(owner)).toBeNull()
    expect(await fixture.storage.table.containers.get(tenant, containerId)).toBeNull()
  })

  it('objects that a step writes while its container is being deleted', async () => {
    const container = await fixture.newContainer()
    const { tenant, id: containerId } = container
    const id = await fixture.accept(container)
    const { table } = fixture.storage
    const acquired = await table.executions.acquireLease(
      { tenant, id },
      { owner: 'w', now: fixture.now, expiresAt: fixture.now + LEASE_MS },
    )
    if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
    const owner = { kind: 'execution', tenant, id } as const
    const say = (firstSeq: number) =>
      table.events.append(owner, {
        firstSeq,
        events: [{ seq: firstSeq, at: fixture.now, type: 'stdout', cell: 0, text: 'secret' }],
        fence: acquired.row.fence,
        sourceSeq: null,
      })
    await say(1)
    await table.containers.markDeleted(tenant, containerId, fixture.now)
    await fixture.passAt(fixture.now + 1)
    await say(2)
    await table.files.put(fileRow({ tenant, containerId }))
    expect(await table.executions.get(tenant, id)).not.toBeNull()
    await fixture.passAt(fixture.now + LEASE_MS)
    expect(await table.executions.get(tenant, id)).toBeNull()
    expect(await table.events.last(owner)).toBeNull()
    expect(await table.files.all(tenant, containerId)).toEqual([])
    expect(await table.containers.get(tenant, containerId)).toBeNull()
  })

  it.each([
    ['30 days after its end', true, LIMITS.responseDays * 24 * HOUR_MS],
    ['an hour after its end when it was not to be stored', false, LIMITS.unstoredResponseMinutes * 60_000],
  ])('a response %s', async (_, store, keptMs) => {
    const row: ResponseRecord = { ...responseRow({ createdAt: fixture.now }), request: { ...responseRow().request, store } }
    const { tenant, id } = row
    await fixture.storage.table.responses.create(row)
    const acquired = await fixture.storage.table.responses.acquireLease(
      { tenant, id },
      {
        owner: 'w',
        now: fixture.now,
        expiresAt: fixture.now + LEASE_MS,
      },
    )
    if (acquired.kind !== 'acquired') throw new Error(acquired.kind)
    await fixture.storage.objects.put(`${objectPrefix(tenant, id)}results/x`, Buffer.from('{}'), { contentType: 'application/json' })
    const end = { status: 'completed', completedAt: fixture.now } as const
    await fixture.storage.table.responses.commit({ tenant, id, fence: acquired.row.fence }, end, {
      removeAt: responseRemoval(row, fixture.now),
    })
    const ended = fixture.now
    await fixture.passAt(ended + keptMs - 1)
    expect(await fixture.storage.table.responses.get(tenant, id)).toMatchObject({ status: 'completed' })
    await fixture.passAt(ended + keptMs + 1)
    expect(await fixture.storage.table.responses.get(tenant, id)).toBeNull()
    expect(await fixture.storage.objects.head(`${objectPrefix(tenant, id)}results/x`)).toBeNull()
  })
})

describe('an idle container', () => {
  it('hibernates early only while a warm sandbox of its image and tier waits', async () => {
    const earlySleepMs = 60_000
    const held = await fixture.newContainer()
    const { tenant, id: containerId, lastActiveAt } = held
    const asked = () => fixture.sent.filter((message) => message.containerId === containerId).length
    // Without a warm sandbox its wake takes a start of a minute.
    const started = { createdAt: lastActiveAt - 60_000, readyAt: lastActiveAt }
    const mine = sandboxRow({ ...started, state: 'claimed', claimedBy: { tenant, containerId }, dueAt: lastActiveAt + 3_600_000 })
    await fixture.storage.table.sandboxes.create(mine)
    const dueAt = lastActiveAt + earlySleepMs
    await fixture.storage.table.containers.setSandbox(tenant, containerId, { generation: 0, sandboxId: mine.id, stateLost: null, dueAt })
    const passAt = async (afterMs: number) => {
      fixture.now = lastActiveAt + afterMs
      await reconcile({ ...fixture.deps, earlySleepMs })
    }
    const warm = (image: string) => sandboxRow({ id: newId('sandbox'), state: 'ready', image, dueAt: lastActiveAt + 3_600_000 })

    await passAt(earlySleepMs - 1)
    await passAt(earlySleepMs + 1)
    await fixture.storage.table.sandboxes.create(warm('another:image'))
    await passAt(2 * earlySleepMs + 2)
    expect(asked(), 'nothing to wake into').toBe(0)
    await fixture.storage.table.sandboxes.create(warm(mine.image))
    await passAt(3 * earlySleepMs + 3)
    expect(asked()).toBe(1)
  })

  it('is hibernated, and a sandbox in which no code ran is released', async () => {
    const container = await fixture.newContainer()
    const idleAt = fixture.now + fixture.deps.hibernateAfterMs
    const asked = () => fixture.sent.filter((message) => message.containerId === container.id)
    const sandbox = sandboxRow({ state: 'claimed', claimedBy: { tenant: container.tenant, containerId: container.id }, dueAt: idleAt + 2 })
    await fixture.storage.table.sandboxes.create(sandbox)
    await fixture.storage.table.containers.setSandbox(container.tenant, container.id, {
      generation: 0,
      sandboxId: sandbox.id,
      stateLost: null,
      dueAt: idleAt,
    })
    await fixture.passAt(idleAt - 1)
    expect(asked()).toEqual([])
    await fixture.passAt(idleAt + 1)
    const { tenant, id: containerId, lastActiveAt: idleSince } = container
    expect(asked()).toEqual([{ v: 1, type: 'container.hibernate', tenant, containerId, idleSince }])
    for (const message of asked()) await fixture.runStep()(message)
    expect(await fixture.storage.table.containers.get(tenant, containerId)).toMatchObject({
      sandboxId: null,
      snapshot: null,
      stateLost: null,
      hibernating: null,
    })
    // A lost stop message is sent again.
    await fixture.passAt(fixture.now + SANDBOX_CHECK_MS)
    await fixture.passAt(fixture.now + SANDBOX_CHECK_MS)
    expect(await fixture.storage.table.sandboxes.get(sandbox.id)).toBeNull()
  })
})
