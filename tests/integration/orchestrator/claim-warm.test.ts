import { withStores } from '../../support/with-stores.ts'
import { singleImage } from '../../../services/model/containers/images.ts'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Container } from '../../../services/model/containers/container.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import type { RunDeps } from '../../../services/workers/deps.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { SandboxFinder } from '../../../services/workers/run/sandboxes/sandbox-finder.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { executionRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const TENANT = newId('tenant')

let storage: Storage
let deps: RunDeps
let queries: number
let refills: number

beforeAll(async () => void (storage = await startStorage()))
afterAll(() => storage.stop())
beforeEach(() => {
  queries = refills = 0
  const { sandboxes } = storage.table
  deps = {
    table: withStores(storage.table, {
      sandboxes: { ...sandboxes, ready: (tier, limit) => ((queries += 1), sandboxes.ready(tier, limit)) },
    }),
    objects: storage.objects,
    queue: { ...storage.queue, send: async (_, { type }) => void (type === 'sandbox.refill' && (refills += 1)) },
    signals: createLocalSignals(),
    telemetry: silentTelemetry,
    clock: { now: () => Date.now() },
    supervisor: createSupervisorClient({ link: createSandboxLink() }),
    workerId: 'claim-warm-test',
    // Each test has its own pool.
    images: singleImage(newId('sandbox')),
    stepBudgetMs: 50_000,
    costPerSecond: () => 0,
  }
})

async function warmSandbox(): Promise<string> {
  const now = Date.now()
  const sandbox = newSandbox({ memoryTier: '1g', image: deps.images.resolve().reference, claimedBy: null }, now)
  await storage.table.sandboxes.create({
    ...sandbox,
    state: 'ready',
    readyAt: now,
    address: { kind: 'unix', socketPath: `/${sandbox.id}` },
  })
  return sandbox.id
}
const freshContainer = (): Promise<Container> =>
  createContainer(storage.table, { tenant: TENANT, subject: null, name: 'fresh', memoryTier: '1g' }, Date.now())
const executionIn = (container: Container) => executionRow({ tenant: TENANT, containerId: container.id, createdAt: Date.now() })

it('claims a sandbox remembered from the previous claim without another query', async () => {
  const pool = [await warmSandbox(), await warmSandbox()]
  const finder = new SandboxFinder(deps)
  const claimed: string[] = []
  for (const expected of [2, 3]) {
    const container = await freshContainer()
    const execution = executionIn(container)
    const acquired = await finder.acquire(container, execution)
    if (acquired.kind === 'live') claimed.push(acquired.session.sandboxId)
    await finder.finishClaim(execution.id)
    // The first claim queries the pool, the second does not, and each prefetches once.
    expect(queries).toBe(expected)
  }
  expect(claimed.toSorted()).toEqual(pool.toSorted())
})

it("claims a warm sandbox of the container's image only", async () => {
  const small = await warmSandbox()
  deps.images.add('standard', newId('sandbox'), { asDefault: true })
  const large = await warmSandbox()
  const finder = new SandboxFinder(deps)
  const claimed = async (image: string | null): Promise<unknown> => {
    const container = { ...(await freshContainer()), image }
    const execution = executionIn(container)
    const acquired = await finder.acquire(container, execution)
    await finder.finishClaim(execution.id)
    return acquired.kind === 'live' ? acquired.session.sandboxId : acquired.kind
  }
  expect(await claimed('slim')).toBe(small)
  expect(await claimed('slim')).toBe('starting')
  expect(await claimed(null)).toBe(large)
})

it('tries the next sandbox when another worker has claimed the remembered one', async () => {
  const pool = [await warmSandbox(), await warmSandbox()]
  const finder = new SandboxFinder(deps)
  const first = await freshContainer()
  const execution = executionIn(first)
  await finder.acquire(first, execution)
  await finder.finishClaim(execution.id)
  for (const id of pool) await storage.table.sandboxes.claim(id, { tenant: 'other', containerId: 'other' }, { now: 1, dueAt: 1 })
  const late = await warmSandbox()
  const second = await freshContainer()
  const next = executionIn(second)
  expect(await finder.acquire(second, next)).toMatchObject({ kind: 'live', session: { sandboxId: late } })
  await finder.finishClaim(next.id)
})

it('requests one refill per claim, after a delay or at the end of the step', async () => {
  await warmSandbox()
  await warmSandbox()
  const finder = new SandboxFinder(deps)
  const first = await freshContainer()
  const execution = executionIn(first)
  await finder.acquire(first, execution)
  expect(refills).toBe(0)
  await finder.finishClaim(execution.id)
  await finder.finishClaim(execution.id)
  expect(refills).toBe(1)
  const second = await freshContainer()
  await finder.acquire(second, executionIn(second))
  await expect.poll(() => refills).toBe(2)
})

it('has no pending work after the step has ended', async () => {
  await warmSandbox()
  const container = await freshContainer()
  const execution = executionIn(container)
  await storage.table.executions.create(execution)
  await storage.table.containers.enqueue(TENANT, container.id, { executionId: execution.id, now: Date.now(), dueAt: Date.now() })
  // No process listens at its address, so the claimed sandbox is given up at once.
  await createRunStep(deps)({ v: 1, type: 'execution.step', tenant: TENANT, containerId: container.id, executionId: execution.id })
  expect(refills).toBe(1)
})

it('starts no sandbox while the machine has no capacity, claims a warm one, and starts one when there is capacity again', async () => {
  let hasCapacity = false
  const finder = new SandboxFinder({ ...deps, admission: { admits: async () => hasCapacity } })
  const waiting = await freshContainer()
  expect(await finder.acquire(waiting, executionIn(waiting))).toMatchObject({ kind: 'full' })
  await warmSandbox()
  const served = await freshContainer()
  expect(await finder.acquire(served, executionIn(served))).toMatchObject({ kind: 'live' })
  hasCapacity = true
  expect(await finder.acquire(waiting, executionIn(waiting))).toMatchObject({ kind: 'starting' })
})
