import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acceptExecution, NUDGE_AFTER_MS } from '../../../services/core/accept-execution.ts'
import { CONTAINER_KEPT_MS, type Container } from '../../../services/core/container.ts'
import { createContainer } from '../../../services/core/create-container.ts'
import { newId } from '../../../services/core/ids.ts'
import { LEASE_MS } from '../../../services/core/lease.ts'
import { LIMITS } from '../../../services/core/limits.ts'
import type { HibernateMessage } from '../../../services/core/messages.ts'
import { SANDBOX_CHECK_MS } from '../../../services/core/new-sandbox.ts'
import { newObjectKey, objectPrefix } from '../../../services/core/object-keys.ts'
import { responseRemoval, type Response } from '../../../services/core/response.ts'
import type { ReconcilerDeps, RunDeps } from '../../../services/orchestrator/deps.ts'
import { createLink } from '../../../services/orchestrator/link/create-link.ts'
import { reconcile } from '../../../services/orchestrator/reconciler/reconcile.ts'
import { createRunStep } from '../../../services/orchestrator/run/run-step.ts'
import { createSupervisorClient } from '../../../services/orchestrator/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../../services/storage/signals/local-signals.ts'
import { silentTelemetry } from '../../../services/core/ports/telemetry.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { executionRow, fileRow, responseRow, sandboxRow, userFileRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

const HOUR_MS = 3_600_000
let storage: Storage
let deps: ReconcilerDeps
let now = Date.now()
/** Containers that were asked to hibernate. */
const sent: HibernateMessage[] = []

beforeAll(async () => {
  storage = await startStorage()
  deps = {
    table: storage.table,
    queue: {
      ...storage.queue,
      send: async (queue, message, options) => {
        if (message.type === 'container.hibernate') sent.push(message)
        await storage.queue.send(queue, message, options)
      },
    },
    objects: storage.objects,
    signals: createLocalSignals(),
    clock: { now: () => now },
    telemetry: silentTelemetry,
    driver: noSandboxes,
    poolSizes: {},
    maxStarts: 1,
    hibernateAfterMs: 300_000,
    workerId: 'reconcile-test',
  }
})
afterAll(() => storage.stop())

const newContainer = (): Promise<Container> =>
  createContainer(storage.table, { tenant: newId('tenant'), subject: null, name: 'x', memoryTier: '1g' }, now)

async function accept({ tenant, id: containerId }: Container): Promise<string> {
  const { id } = executionRow()
  const { subject, responseId, source, timeoutSeconds, onError, storeHistory, metadata, publicUrl } = executionRow()
  const wanted = { tenant, containerId, id, subject, responseId, source, timeoutSeconds, onError, storeHistory, metadata, publicUrl }
  await acceptExecution(deps, wanted, now)
  return id
}

/** A run worker without a single sandbox. */
const runStep = () => {
  const run: RunDeps = {
    ...deps,
    supervisor: createSupervisorClient({ link: createLink() }),
    image: 'none',
    stepBudgetMs: 50_000,
    costPerSecond: () => 0,
  }
  return createRunStep(run)
}
const nudge = ({ tenant, id: containerId }: Container, executionId: string): Promise<void> =>
  runStep()({ v: 1, type: 'execution.step', tenant, containerId, executionId })

async function passAt(at: number): Promise<void> {
  now = at
  expect(await reconcile(deps)).toMatchObject({ failed: 0 })
}

describe('rows that cannot be repaired', () => {
  it.each([
    ['one after another', 1],
    ['all in one moment', 0],
  ])('do not keep a pass from the rows behind them, however many they are, due %s', async (_, apart) => {
    const tenant = newId('tenant')
    const stuck = Array.from({ length: 510 }, (_, index) => userFileRow({ tenant, expiresAt: 1_000 + index * apart }))
    for (let from = 0; from < stuck.length; from += 50)
      await Promise.all(stuck.slice(from, from + 50).map((file) => storage.table.userFiles.create(file)))
    const container = await newContainer()
    const id = await accept(container)
    now += NUDGE_AFTER_MS + 1
    const objects = { ...storage.objects, deletePrefix: () => Promise.reject(new Error('The store is down')) }
    expect(await reconcile({ ...deps, objects })).toMatchObject({ failed: stuck.length })
    expect((await storage.table.executions.get(container.tenant, id))?.dueAt).toBe(now + NUDGE_AFTER_MS)
    // The next pass begins with others.
    expect((await storage.table.due(now, 1_000)).filter(({ kind }) => kind === 'file')).toEqual([])
    expect((await storage.table.due(now + 5_000, 1_000)).filter(({ kind }) => kind === 'file')).toHaveLength(stuck.length)
    for (let from = 0; from < stuck.length; from += 50)
      await Promise.all(stuck.slice(from, from + 50).map((file) => storage.table.userFiles.remove(tenant, file.id)))
  })
})

describe('a row whose repair takes long', () => {
  it('holds up no other one', async () => {
    const [slow, quick] = [await newContainer(), await newContainer()]
    const [slowId, quickId] = [await accept(slow), await accept(quick)]
    const other = Promise.withResolvers<void>()
    const { executions } = storage.table
    const get: typeof executions.get = async (tenant, id) => {
      if (id === slowId) await other.promise
      return executions.get(tenant, id)
    }
    const postpone: typeof executions.postpone = async (tenant, id, dueAt) => {
      await executions.postpone(tenant, id, dueAt)
      if (id === quickId) other.resolve()
    }
    now += NUDGE_AFTER_MS + 1
    expect(await reconcile({ ...deps, table: { ...deps.table, executions: { ...executions, get, postpone } } })).toMatchObject({
      failed: 0,
    })
    for (const [{ tenant }, id] of [[slow, slowId] as const, [quick, quickId] as const])
      expect((await executions.get(tenant, id))?.dueAt).toBe(now + NUDGE_AFTER_MS)
  })
})

describe('a job that every step fails at', () => {
  it('is ended once its own time is long over, and its container goes on', async () => {
    const container = await newContainer()
    const id = await accept(container)
    const next = await accept(container)
    const taken = await storage.table.executions.take(container.tenant, id, { owner: 'w', now, expiresAt: now + LEASE_MS })
    if (taken.kind !== 'taken') throw new Error(taken.kind)
    await storage.table.executions.commit(container.tenant, id, taken.row.fence, { status: 'running', startedAt: now, sandboxId: 'sbx_1' })
    await passAt(now + LEASE_MS + 1)
    expect(await storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'running' })
    await passAt(now + HOUR_MS / 2)
    expect(await storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'failed', reason: 'dead_letter' })
    expect(await storage.table.containers.get(container.tenant, container.id)).toMatchObject({ queue: [next] })
  })

  it('is ended when no sandbox ever came', async () => {
    const container = await newContainer()
    const id = await accept(container)
    await nudge(container, id)
    expect(await storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'starting', lease: null })
    await passAt(now + HOUR_MS + 1)
    expect(await storage.table.executions.get(container.tenant, id)).toMatchObject({ status: 'timed_out', reason: 'deadline' })
  })

  it('is ended as a response too', async () => {
    const row = responseRow({ createdAt: now, dueAt: now })
    await storage.table.responses.create(row)
    await passAt(now + 1)
    expect(await storage.table.responses.get(row.tenant, row.id)).toMatchObject({ status: 'queued' })
    await passAt(now + HOUR_MS)
    expect(await storage.table.responses.get(row.tenant, row.id)).toMatchObject({ status: 'failed', error: { code: 'dead_letter' } })
  })
})

describe('a head that nobody takes off', () => {
  it('is taken off by who waits behind it, however busy the container is', async () => {
    const container = await newContainer()
    // A crash came before the row of the first was written.
    await storage.table.containers.enqueue(container.tenant, container.id, 'exec_nobody', now, now + NUDGE_AFTER_MS)
    const id = await accept(container)
    await nudge(container, id)
    expect(await storage.table.containers.get(container.tenant, container.id)).toMatchObject({ queue: ['exec_nobody', id] })
    now += NUDGE_AFTER_MS
    const another = await accept(container)
    await nudge(container, id)
    expect(await storage.table.containers.get(container.tenant, container.id)).toMatchObject({ queue: [id, another] })
  })
})

describe('an acceptance that is repeated', () => {
  it('never removes the result of the first, also when the container is gone by then', async () => {
    const container = await newContainer()
    const id = await accept(container)
    const { tenant } = container
    const taken = await storage.table.executions.take(tenant, id, { owner: 'w', now, expiresAt: now + LEASE_MS })
    if (taken.kind !== 'taken') throw new Error(taken.kind)
    await storage.table.executions.commit(tenant, id, taken.row.fence, { status: 'succeeded', endedAt: now })
    await storage.table.containers.markDeleted(tenant, container.id, now)
    await expect(acceptExecution(deps, executionRow({ tenant, id, containerId: container.id }), now)).rejects.toMatchObject({
      code: 'container_not_found',
    })
    expect(await storage.table.executions.get(tenant, id)).toMatchObject({ status: 'succeeded' })
  })
})

describe('what nobody uses any more', () => {
  it('goes: a container that never ran code, with its files', async () => {
    const container = await newContainer()
    const objectKey = newObjectKey(container.tenant, 'files', container.id)
    await storage.objects.put(objectKey, Buffer.from('x'), { contentType: 'text/plain' })
    await storage.table.files.put(fileRow({ tenant: container.tenant, containerId: container.id, objectKey }))
    const created = now
    await passAt(created + CONTAINER_KEPT_MS - 1)
    expect(await storage.table.containers.get(container.tenant, container.id)).toMatchObject({ deletedAt: null })
    await passAt(created + CONTAINER_KEPT_MS + 1)
    await passAt(now + 1)
    expect(await storage.table.containers.get(container.tenant, container.id)).toBeNull()
    expect(await storage.table.files.all(container.tenant, container.id)).toEqual([])
    expect(await storage.objects.head(objectKey)).toBeNull()
  })

  it('goes: every execution of a deleted container with its events, more of them than a page has', async () => {
    const container = await newContainer()
    const { tenant, id: containerId } = container
    const rows = Array.from({ length: 230 }, (_, index) => executionRow({ tenant, containerId, createdAt: now + index, dueAt: null }))
    await Promise.all(rows.map((row) => storage.table.executions.create(row)))
    const owner = { kind: 'execution', tenant, id: rows[150]?.id ?? '' } as const
    const event = { seq: 0, at: now, type: 'stdout', cell: 0, text: 'secret' } as const
    await storage.table.events.append(owner, { firstSeq: 0, events: [event], fence: 1, sourceSeq: null })
    await storage.table.containers.markDeleted(tenant, containerId, now)
    await passAt(now + 1)
    const left = await Promise.all(rows.map((row) => storage.table.executions.get(tenant, row.id)))
    expect(left.filter((row) => row !== null)).toEqual([])
    expect(await storage.table.events.last(owner)).toBeNull()
    expect(await storage.table.containers.get(tenant, containerId)).toBeNull()
  })

  it('goes: what a step still writes while its container is being deleted', async () => {
    const container = await newContainer()
    const { tenant, id: containerId } = container
    const id = await accept(container)
    const { table } = storage
    const taken = await table.executions.take(tenant, id, { owner: 'w', now, expiresAt: now + LEASE_MS })
    if (taken.kind !== 'taken') throw new Error(taken.kind)
    const owner = { kind: 'execution', tenant, id } as const
    const say = (firstSeq: number) =>
      table.events.append(owner, {
        firstSeq,
        events: [{ seq: firstSeq, at: now, type: 'stdout', cell: 0, text: 'secret' }],
        fence: taken.row.fence,
        sourceSeq: null,
      })
    await say(1)
    await table.containers.markDeleted(tenant, containerId, now)
    await passAt(now + 1)
    await say(2)
    await table.files.put(fileRow({ tenant, containerId }))
    expect(await table.executions.get(tenant, id)).not.toBeNull()
    await passAt(now + LEASE_MS)
    expect(await table.executions.get(tenant, id)).toBeNull()
    expect(await table.events.last(owner)).toBeNull()
    expect(await table.files.all(tenant, containerId)).toEqual([])
    expect(await table.containers.get(tenant, containerId)).toBeNull()
  })

  it.each([
    ['30 days after its end', true, LIMITS.responseDays * 24 * HOUR_MS],
    ['an hour after its end when it was not to be stored', false, LIMITS.unstoredResponseMinutes * 60_000],
  ])('goes: a response %s', async (_, store, keptMs) => {
    const row: Response = { ...responseRow({ createdAt: now }), request: { ...responseRow().request, store } }
    const { tenant, id } = row
    await storage.table.responses.create(row)
    const taken = await storage.table.responses.take(tenant, id, { owner: 'w', now, expiresAt: now + LEASE_MS })
    if (taken.kind !== 'taken') throw new Error(taken.kind)
    await storage.objects.put(`${objectPrefix(tenant, id)}results/x`, Buffer.from('{}'), { contentType: 'application/json' })
    const end = { status: 'completed', completedAt: now } as const
    await storage.table.responses.commit(tenant, id, taken.row.fence, end, { removeAt: responseRemoval(row, now) })
    const ended = now
    await passAt(ended + keptMs - 1)
    expect(await storage.table.responses.get(tenant, id)).toMatchObject({ status: 'completed' })
    await passAt(ended + keptMs + 1)
    expect(await storage.table.responses.get(tenant, id)).toBeNull()
    expect(await storage.objects.head(`${objectPrefix(tenant, id)}results/x`)).toBeNull()
  })
})

describe('an idle container', () => {
  it('is sent to sleep, and gives a sandbox up in which nothing ran', async () => {
    const container = await newContainer()
    const idleAt = now + deps.hibernateAfterMs
    const asked = () => sent.filter((message) => message.containerId === container.id)
    const sandbox = sandboxRow({ state: 'claimed', claimedBy: { tenant: container.tenant, containerId: container.id }, dueAt: idleAt + 2 })
    await storage.table.sandboxes.create(sandbox)
    await storage.table.containers.setSandbox(container.tenant, container.id, 0, { sandboxId: sandbox.id, stateLost: null, dueAt: idleAt })
    await passAt(idleAt - 1)
    expect(asked()).toEqual([])
    await passAt(idleAt + 1)
    const { tenant, id: containerId, lastActiveAt: idleSince } = container
    expect(asked()).toEqual([{ v: 1, type: 'container.hibernate', tenant, containerId, idleSince }])
    for (const message of asked()) await runStep()(message)
    expect(await storage.table.containers.get(tenant, containerId)).toMatchObject({
      sandboxId: null,
      snapshot: null,
      stateLost: null,
      hibernating: null,
    })
    // A stop that got lost is made up for.
    await passAt(now + SANDBOX_CHECK_MS)
    await passAt(now + SANDBOX_CHECK_MS)
    expect(await storage.table.sandboxes.get(sandbox.id)).toBeNull()
  })
})
