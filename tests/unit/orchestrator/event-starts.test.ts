import { singleImage } from '../../../services/model/containers/images.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import type { PlacementMessage } from '../../../services/model/messages.ts'
import { DriverError, type SandboxDriver, type SandboxStatus } from '../../../services/ports/sandbox-driver.ts'
import { measure } from '../../../services/model/metrics.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import { ISOLATION_CHECKS } from '../../../services/model/sandboxes/isolation-checks.ts'
import { newSandbox, SANDBOX_CHECK_MS, SANDBOX_START_MS } from '../../../services/operations/sandboxes/new-sandbox.ts'
import type { Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import type { ReconcilerDeps } from '../../../services/workers/deps.ts'
import { createPlaceStep } from '../../../services/workers/place/place-step.ts'
import { createPool } from '../../../services/workers/place/pool.ts'
import { handleTaskStateChange } from '../../../services/workers/reconcile/handle-task-state-change.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

type Sent = { readonly queue: string; readonly message: PlacementMessage | { readonly type: string }; readonly delaySeconds: number }

let storage: Storage
let deps: ReconcilerDeps
let now = Date.now()
let sent: Sent[]
let inspected: number
/** Sandboxes whose status was read. */
let read: string[]
let seen: (id: string) => SandboxStatus
let refuse: DriverError | null
const address = { kind: 'tcp', host: '10.0.0.1', port: 8700 } as const
const started: string[] = []

beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

beforeEach(async () => {
  for (const { id } of await storage.table.sandboxes.all()) await storage.table.sandboxes.remove(id)
  sent = []
  inspected = 0
  read = []
  started.length = 0
  refuse = null
  seen = () => ({ phase: 'starting' })
  now += 3_600_000
  const driver: SandboxDriver = {
    ...noSandboxes,
    images: singleImage('sandbox:1'),
    capabilities: { ...noSandboxes.capabilities, reportsStarts: true },
    start: async ({ sandboxId }) => {
      if (refuse !== null) throw refuse
      started.push(sandboxId)
      return `arn:${sandboxId}`
    },
    waitReady: () => Promise.reject(new Error('A start must not wait.')),
    inspectAll: async (sandboxes) => {
      inspected += 1
      read.push(...sandboxes.map(({ id }) => id))
      return sandboxes.map(({ id }) => seen(id))
    },
  }
  deps = {
    table: storage.table,
    objects: storage.objects,
    queue: {
      send: async (queue, message, { delaySeconds = 0 }) => void sent.push({ queue, message, delaySeconds }),
      check: async () => undefined,
    },
    signals: createLocalSignals(),
    clock: { now: () => now },
    telemetry: silentTelemetry,
    driver,
    poolSizes: { '1g': 30 },
    maxStarts: 10,
    costPerSecond: () => 0,
    hibernateAfterMs: 300_000,
    workerId: 'event-starts-test',
  }
})

const placements = (): PlacementMessage[] =>
  sent.filter(({ queue }) => queue === 'placements').map(({ message }) => message as PlacementMessage)
const rows = async (): Promise<readonly Sandbox[]> => (await storage.table.sandboxes.all()).toSorted((a, b) => a.id.localeCompare(b.id))
const place = () => createPlaceStep(deps, createPool(deps))

async function launchOne(): Promise<Sandbox> {
  deps = { ...deps, poolSizes: { '1g': 1 } }
  await place()({ v: 1, type: 'sandbox.refill' })
  for (const message of placements()) await place()(message)
  const [row] = await rows()
  if (row === undefined) throw new Error('No sandbox was started.')
  return row
}

describe('where starts are reported by event, the warm pool', () => {
  it('enqueues one message per start, waits for none and starts none too many, however many workers refill', async () => {
    const refill = (): Promise<void> => place()({ v: 1, type: 'sandbox.refill' })
    await Promise.all(Array.from({ length: 8 }, refill))
    expect(placements().filter(({ type }) => type === 'sandbox.start')).toHaveLength(30)
    expect(started).toEqual([])
    expect(await rows()).toHaveLength(30)
    // One of the workers that were refused has enqueued the next count.
    expect(sent.filter(({ message }) => message.type === 'sandbox.refill')).toEqual([expect.objectContaining({ delaySeconds: 3 })])
    now += 3_001
    await refill()
    expect(await rows()).toHaveLength(30)
  })

  it('becomes ready by the event of each task, without a call to the platform', async () => {
    const { id } = await launchOne()
    expect(await storage.table.sandboxes.get(id)).toMatchObject({ state: 'starting', platformId: `arn:${id}`, launchedAt: now })
    now += 57_000
    const change = { sandboxId: id, platformId: `arn:${id}`, status: { phase: 'ready', address } } as const
    await handleTaskStateChange(deps, change)
    await handleTaskStateChange(deps, change)
    expect(await storage.table.sandboxes.get(id)).toMatchObject({ state: 'ready', address, readyAt: now, image: 'sandbox:1' })
    expect((await storage.table.sandboxes.ready('1g', 10)).map((row) => row.id)).toEqual([id])
    expect(inspected).toBe(0)
  })

  it('keeps a start that the platform throttles, and asks again a little later', async () => {
    refuse = new DriverError('throttled', 'Rate exceeded')
    const { id } = await launchOne()
    expect(await storage.table.sandboxes.get(id)).toMatchObject({ state: 'starting' })
    const repeated = sent.filter(({ message, delaySeconds }) => message.type === 'sandbox.start' && delaySeconds >= 1)
    expect(repeated).toHaveLength(1)
    refuse = null
    await place()((repeated[0] as Sent).message as PlacementMessage)
    expect(started).toEqual([id])
  })

  it('has one message while the platform throttles it, however many passes the reconciler makes meanwhile', async () => {
    refuse = new DriverError('throttled', 'Rate exceeded')
    await launchOne()
    const starts = () => sent.filter(({ message }) => message.type === 'sandbox.start')
    for (let round = 0; round < 3; round++) {
      const [waiting] = starts()
      sent = []
      now += SANDBOX_CHECK_MS - 5_000
      await place()((waiting as Sent).message as PlacementMessage)
      now += 10_000
      await reconcile(deps)
      expect(starts()).toHaveLength(1)
    }
    refuse = null
  })

  it('starts a task once for a message that comes twice', async () => {
    const { id } = await launchOne()
    await place()({ v: 1, type: 'sandbox.start', sandboxId: id })
    expect(started).toEqual([id])
  })

  it('becomes ready by the reconciler when the event is lost, with one read for all sandboxes', async () => {
    await place()({ v: 1, type: 'sandbox.refill' })
    for (const message of placements()) await place()(message)
    now += SANDBOX_CHECK_MS + 1
    seen = () => ({ phase: 'ready', address })
    expect(await reconcile(deps)).toMatchObject({ failed: 0 })
    expect((await rows()).map(({ state }) => state)).toEqual(Array(30).fill('ready'))
    expect(inspected).toBe(1)
  })

  it('reads no status of a start that the platform has not accepted, however many wait', async () => {
    await place()({ v: 1, type: 'sandbox.refill' })
    for (const message of placements().slice(0, 4)) await place()(message)
    now += SANDBOX_CHECK_MS + 1
    await reconcile(deps)
    expect(read.toSorted()).toEqual(started.toSorted())
    expect(started.length).toBeLessThan(5)
  })

  it('repeats a start whose message was lost, and abandons one that never runs', async () => {
    deps = { ...deps, poolSizes: { '1g': 1 } }
    await place()({ v: 1, type: 'sandbox.refill' })
    const [row] = await rows()
    sent = []
    now += SANDBOX_CHECK_MS + 1
    await reconcile(deps)
    expect(placements().filter(({ type }) => type === 'sandbox.start')).toEqual([{ v: 1, type: 'sandbox.start', sandboxId: row?.id }])
    await place()({ v: 1, type: 'sandbox.start', sandboxId: row?.id ?? '' })
    now += SANDBOX_START_MS + 1
    await reconcile(deps)
    expect(await storage.table.sandboxes.get(row?.id ?? '')).toBeNull()
  })
})

describe('where starts are reported by event, the check between two passes', () => {
  it('is requested by a pass that finds sandboxes, for the middle of the interval', async () => {
    deps = { ...deps, betweenPassesMs: 60_000 }
    const checks = () => sent.filter(({ message }) => message.type === 'sandbox.check')
    await reconcile(deps)
    expect(checks()).toEqual([])
    await launchOne()
    await reconcile(deps)
    expect(checks()).toEqual([{ queue: 'placements', message: { v: 1, type: 'sandbox.check' }, delaySeconds: 30 }])
  })

  it('finds a dead sandbox and a running one whose events were lost, with one read, and writes nothing for others', async () => {
    await place()({ v: 1, type: 'sandbox.refill' })
    for (const message of placements()) await place()(message)
    const [dead, alive, ...others] = await rows()
    const change = { platformId: `arn:${dead?.id}`, status: { phase: 'ready', address } } as const
    await handleTaskStateChange(deps, { ...change, sandboxId: dead?.id ?? '' })
    now += 61_000
    const before = await storage.table.sandboxes.get(others[0]?.id ?? '')
    seen = (id) =>
      id === dead?.id
        ? { phase: 'gone', reason: 'lost', exitCode: null }
        : id === alive?.id
          ? { phase: 'ready', address }
          : { phase: 'starting' }
    await place()({ v: 1, type: 'sandbox.check' })
    expect(inspected).toBe(1)
    expect(await storage.table.sandboxes.get(dead?.id ?? '')).toBeNull()
    expect(await storage.table.sandboxes.get(alive?.id ?? '')).toMatchObject({ state: 'ready', address })
    expect(await storage.table.sandboxes.get(others[0]?.id ?? '')).toEqual(before)
  })
})

describe('where starts are reported by event, a start for a container', () => {
  const tenant = newId('tenant')
  it.each([
    ['runs its execution once the supervisor of its running task has had time to start', { phase: 'ready', address }, 'claimed', 2],
    ['asks again after a pause when the task ends', { phase: 'gone', reason: 'lost', exitCode: null }, 'gone', 3],
  ] as const)('%s', async (_, status, state, delaySeconds) => {
    const containerId = newId('container')
    const executionId = newId('execution')
    const container = await createContainer(storage.table, { tenant, id: containerId, subject: null, name: 'x', memoryTier: '1g' }, now)
    await storage.table.containers.enqueue(tenant, containerId, { executionId, now, dueAt: now + 3_600_000 })
    const sandbox = newSandbox({ memoryTier: '1g', image: 'sandbox:1', claimedBy: { tenant, containerId } }, now)
    await storage.table.sandboxes.create(sandbox)
    await storage.table.containers.setSandbox(tenant, containerId, {
      generation: container.generation,
      sandboxId: sandbox.id,
      stateLost: null,
      dueAt: null,
    })
    await place()({ v: 1, type: 'sandbox.place', tenant, sandboxId: sandbox.id, containerId, executionId })
    // No function waits for the task, and no step runs before it.
    expect(started).toEqual([sandbox.id])
    expect(sent).toEqual([])
    await handleTaskStateChange(deps, { sandboxId: sandbox.id, platformId: `arn:${sandbox.id}`, status })
    expect((await storage.table.sandboxes.get(sandbox.id))?.state).toBe(state)
    expect(sent).toEqual([
      { queue: 'executions', message: { v: 1, type: 'execution.step', tenant, containerId, executionId }, delaySeconds },
    ])
  })

  it('fails when its running task reports a failed isolation check, which is emitted, counted and stored for the execution', async () => {
    const containerId = newId('container')
    const container = await createContainer(storage.table, { tenant, id: containerId, subject: null, name: 'x', memoryTier: '1g' }, now)
    await storage.table.containers.enqueue(tenant, containerId, { executionId: newId('execution'), now, dueAt: now + 3_600_000 })
    const sandbox = newSandbox({ memoryTier: '1g', image: 'sandbox:1', claimedBy: { tenant, containerId } }, now)
    const { id } = sandbox
    await storage.table.sandboxes.create(sandbox)
    await storage.table.containers.setSandbox(tenant, containerId, {
      generation: container.generation,
      sandboxId: id,
      stateLost: null,
      dueAt: null,
    })
    const events: WideEvent[] = []
    deps = { ...deps, telemetry: { emit: (event) => void events.push(event) } }
    const change = { sandboxId: id, platformId: `arn:${id}` }
    await handleTaskStateChange(deps, { ...change, status: { phase: 'ready', address } })
    sent = []
    now += 3_000
    const exitCode = 193 + ISOLATION_CHECKS.indexOf('memory_is_limited')
    for (let delivery = 0; delivery < 2; delivery++)
      await handleTaskStateChange(deps, { ...change, status: { phase: 'gone', reason: 'refused', exitCode } })
    expect(events.filter(({ event }) => event === 'sandbox_refused')).toEqual([
      expect.objectContaining({ sandbox: id, check: 'memory_is_limited', exit_code: exitCode, was_ready: true }),
    ])
    expect(events.flatMap((event) => measure(event)).map(({ name }) => name)).toContain('SandboxStartFailed')
    expect(await storage.table.sandboxes.get(id)).toMatchObject({
      state: 'gone',
      failedStart: { to: now, check: 'memory_is_limited' },
    })
    // The container names it until the execution's next step, which counts the failed start.
    expect((await storage.table.containers.get(tenant, containerId))?.sandboxId).toBe(id)
    expect(sent).toMatchObject([{ queue: 'executions', message: { type: 'execution.step' }, delaySeconds: 3 }])
    // A stop that a step requested meanwhile keeps the row.
    await place()({ v: 1, type: 'sandbox.stop', sandboxId: id })
    expect((await storage.table.sandboxes.get(id))?.failedStart?.check).toBe('memory_is_limited')
  })
})
