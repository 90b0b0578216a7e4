import { singleImage } from '../../../services/core/containers/images.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createContainer } from '../../../services/core/containers/create-container.ts'
import { newId } from '../../../services/core/ids.ts'
import type { PlacementMessage } from '../../../services/core/messages.ts'
import { DriverError, type SandboxDriver, type SandboxStatus } from '../../../services/core/ports/sandbox-driver.ts'
import { silentTelemetry } from '../../../services/core/ports/telemetry.ts'
import { newSandbox, SANDBOX_CHECK_MS, SANDBOX_START_MS } from '../../../services/core/sandboxes/new-sandbox.ts'
import type { Sandbox } from '../../../services/core/sandboxes/sandbox.ts'
import type { ReconcilerDeps } from '../../../services/orchestrator/deps.ts'
import { createPlaceStep } from '../../../services/orchestrator/place/place-step.ts'
import { createPool } from '../../../services/orchestrator/place/pool.ts'
import { handleTaskStateChange } from '../../../services/orchestrator/reconciler/handle-task-state-change.ts'
import { reconcile } from '../../../services/orchestrator/reconciler/reconcile.ts'
import { createLocalSignals } from '../../../services/storage/signals/local-signals.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

type Sent = { readonly queue: string; readonly message: PlacementMessage | { readonly type: string }; readonly delaySeconds: number }

let storage: Storage
let deps: ReconcilerDeps
let now = Date.now()
let sent: Sent[]
let inspected: number
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

describe('where starts are reported by event, a start for a container', () => {
  const tenant = newId('tenant')
  it.each([
    ['runs its execution when the task runs', { phase: 'ready', address }, 'claimed', 0],
    ['asks again after a pause when the task ends', { phase: 'gone', reason: 'lost', exitCode: null }, 'gone', 3],
  ] as const)('%s', async (_, status, state, delaySeconds) => {
    const containerId = newId('container')
    const executionId = newId('execution')
    const container = await createContainer(storage.table, { tenant, id: containerId, subject: null, name: 'x', memoryTier: '1g' }, now)
    await storage.table.containers.enqueue(tenant, containerId, executionId, now, now + 3_600_000)
    const sandbox = newSandbox({ memoryTier: '1g', image: 'sandbox:1', claimedBy: { tenant, containerId } }, now)
    await storage.table.sandboxes.create(sandbox)
    await storage.table.containers.setSandbox(tenant, containerId, container.generation, {
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
})
