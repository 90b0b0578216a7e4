import { singleImage } from '../../../services/model/containers/images.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import { newSandbox, SANDBOX_CHECK_MS, SANDBOX_START_MS } from '../../../services/operations/sandboxes/new-sandbox.ts'
import type { SandboxDriver } from '../../../services/ports/sandbox-driver.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import type { ReconcilerDeps } from '../../../services/workers/deps.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { handleTaskStateChange } from '../../../services/workers/reconcile/handle-task-state-change.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { executionRow } from '../../support/rows.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const address = { kind: 'tcp', host: '10.0.0.1', port: 8700 } as const

let storage: Storage
let deps: ReconcilerDeps
let now = Date.now()
let alive: Set<string>
beforeAll(async () => {
  storage = await startStorage()
  const driver: SandboxDriver = {
    ...noSandboxes,
    images: singleImage('sandbox:2'),
    inspectAll: async (sandboxes) =>
      sandboxes.map(({ id }) => (alive.has(id) ? { phase: 'ready', address } : { phase: 'gone', reason: 'lost', exitCode: null })),
    stop: async (id) => void alive.delete(id),
    async *list() {
      yield* alive
    },
  }
  deps = {
    table: storage.table,
    objects: storage.objects,
    queue: storage.queue,
    signals: createLocalSignals(),
    clock: { now: () => now },
    telemetry: silentTelemetry,
    driver,
    poolSizes: {},
    maxStarts: 1,
    costPerSecond: () => 0,
    hibernateAfterMs: 3_600_000,
    workerId: 'reconcile-sandboxes-test',
  }
})
afterAll(() => storage.stop())
beforeEach(() => {
  alive = new Set()
})

async function running(change: Partial<Sandbox>): Promise<string> {
  const sandbox = {
    ...newSandbox({ memoryTier: '1g', image: 'sandbox:2', claimedBy: null }, now),
    state: 'ready',
    address,
    ...change,
  } as const
  await storage.table.sandboxes.create(sandbox)
  alive.add(sandbox.id)
  return sandbox.id
}

/** A container whose sandbox has just ended, and its report about the variables. */
async function lossAfterEndOf(change: Partial<Sandbox>): Promise<string | null> {
  const tenant = newId('tenant')
  const created = await createContainer(storage.table, { tenant, subject: null, name: 'x', memoryTier: '1g' }, now)
  const id = await running({ state: 'claimed', claimedBy: { tenant, containerId: created.id }, claimedAt: now, ...change })
  await storage.table.containers.setSandbox(tenant, created.id, {
    generation: created.generation,
    sandboxId: id,
    stateLost: null,
    dueAt: null,
  })
  alive.delete(id)
  await handleTaskStateChange(deps, { sandboxId: id, platformId: id, status: { phase: 'gone', reason: 'lost', exitCode: 137 } })
  const container = await storage.table.containers.get(tenant, created.id)
  // One that never replied is a failed start: the container names its row until the execution's next step.
  expect(container?.sandboxId).toBe(change.answeredAt === null ? id : null)
  return container?.stateLost ?? null
}

describe('after an upgrade', () => {
  it('drains the pool of the other version and keeps sandboxes of this version', async () => {
    const held = await createContainer(storage.table, { tenant: newId('tenant'), subject: null, name: 'x', memoryTier: '1g' }, now)
    const old = await running({ image: 'sandbox:1' })
    const newer = await running({ protocol: SUPERVISOR_PROTOCOL + 1 })
    const older = await running({ protocol: SUPERVISOR_PROTOCOL - 1 })
    const mine = await running({})
    const working = await running({
      image: 'sandbox:1',
      protocol: SUPERVISOR_PROTOCOL - 1,
      state: 'claimed',
      claimedBy: { tenant: held.tenant, containerId: held.id },
      claimedAt: now,
      answeredAt: now,
    })
    await storage.table.containers.setSandbox(held.tenant, held.id, {
      generation: held.generation,
      sandboxId: working,
      stateLost: null,
      dueAt: null,
    })
    now += 60_000
    expect(await reconcile(deps)).toMatchObject({ failed: 0 })
    expect([...alive].toSorted()).toEqual([mine, working].toSorted())
    for (const id of [old, newer, older]) expect(await storage.table.sandboxes.get(id)).toBeNull()
  })
})

describe('a pool start reserved by a container', () => {
  it('continues before the container names the sandbox, and ends if it never does', async () => {
    const { table } = storage
    const id = await running({ state: 'starting', address: null, memoryTier: '16g' })
    now += SANDBOX_CHECK_MS + 1
    const claim = { tenant: newId('tenant'), containerId: newId('container') }
    await createContainer(table, { ...claim, id: claim.containerId, subject: null, name: 'x', memoryTier: '16g' }, now)
    expect(await table.sandboxes.reserve(id, claim, now)).not.toBeNull()
    await reconcile(deps)
    expect([...alive]).toContain(id)
    expect(await table.sandboxes.get(id)).toMatchObject({ state: 'starting', claimedBy: claim })
    now += SANDBOX_CHECK_MS + 1
    await reconcile(deps)
    expect(await table.sandboxes.get(id)).toBeNull()
  })
})

describe('a start that never completes', () => {
  it('ends the execution that waits for it instead of starting again endlessly', async () => {
    const tenant = newId('tenant')
    const { table } = storage
    const container = await createContainer(table, { tenant, subject: null, name: 'x', memoryTier: '4g' }, now)
    const execution = executionRow({ tenant, containerId: container.id, createdAt: now, dueAt: now + 3_600_000 })
    await table.executions.create(execution)
    await table.containers.enqueue(tenant, container.id, { executionId: execution.id, now, dueAt: now + 3_600_000 })
    const clock = { now: () => now }
    const step = createRunStep({
      ...deps,
      clock,
      supervisor: createSupervisorClient({ link: createSandboxLink() }),
      images: singleImage('sandbox:2'),
      stepBudgetMs: 50_000,
      costPerSecond: () => 0,
    })
    const runStep = () => step({ v: 1, type: 'execution.step', tenant, containerId: container.id, executionId: execution.id })
    await runStep()
    const sandboxId = (await table.containers.get(tenant, container.id))?.sandboxId ?? ''
    alive.add(sandboxId)
    now += SANDBOX_START_MS + 1_000
    expect(await reconcile(deps)).toMatchObject({ failed: 0 })
    expect([...alive]).not.toContain(sandboxId)
    await runStep()
    const ended = await table.executions.get(tenant, execution.id)
    expect(ended).toMatchObject({ status: 'failed', reason: 'sandbox_lost' })
    expect(ended?.result?.lost.map(({ reason }) => reason)).toEqual([expect.stringContaining('No sandbox could be started')])
    expect(await table.containers.get(tenant, container.id)).toMatchObject({ queue: [], stateLost: null })
  })
})

describe('a sandbox with an IP address that ends', () => {
  it('loses variables if a worker had seen it reply', async () => {
    expect(await lossAfterEndOf({ answeredAt: now })).toBe('The sandbox that held them was lost.')
  })

  it('loses nothing if it never replied, and counts as a failed start', async () => {
    expect(await lossAfterEndOf({ answeredAt: null })).toBeNull()
  })
})
