import { singleImage } from '../../../services/model/containers/images.ts'
import Docker from 'dockerode'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import { measure } from '../../../services/model/metrics.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import type { Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import type { ReconcilerDeps } from '../../../services/workers/deps.ts'
import { createDockerDriver } from '../../../services/adapters/drivers/docker/docker-driver.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { createPool } from '../../../services/workers/place/pool.ts'
import { startSandbox } from '../../../services/workers/place/start-sandbox.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'

let storage: Storage
let deps: ReconcilerDeps
/** The offset of the reconciler's clock, so that a test can make every row due. */
let ahead = 0
const heard: WideEvent[] = []
/** The values of a metric so far. */
const measured = (name: string) => heard.flatMap(measure).flatMap((one) => (one.name === name ? one.value : []))

beforeAll(async () => {
  storage = await startStorage()
  const driver = createDockerDriver({
    docker: new Docker(),
    images: singleImage(inject('sandboxImage')),
    preload: [],
    stage: `place-test-${process.pid}`,
    supervisor: createSupervisorClient({ link: createSandboxLink() }),
  })
  deps = {
    table: storage.table,
    queue: storage.queue,
    objects: storage.objects,
    signals: createLocalSignals(),
    telemetry: { emit: (event) => void heard.push(event) },
    costPerSecond: () => 0.01,
    clock: { now: () => systemClock.now() + ahead },
    driver,
    poolSizes: {},
    maxStarts: 2,
    hibernateAfterMs: 300_000,
    workerId: 'place-test',
  }
})
afterAll(async () => {
  for await (const id of deps.driver.list()) await deps.driver.stop(id)
  await storage.stop()
})

async function row(claimedBy: Sandbox['claimedBy'] = null): Promise<Sandbox> {
  const sandbox = newSandbox({ memoryTier: '1g', image: deps.driver.images.resolve().reference, claimedBy }, deps.clock.now())
  await deps.table.sandboxes.create(sandbox)
  return sandbox
}
const running = async (): Promise<string[]> => {
  const ids: string[] = []
  for await (const id of deps.driver.list()) ids.push(id)
  return ids
}

describe('starting a sandbox', () => {
  it('twice concurrently leaves one ready sandbox', async () => {
    const sandbox = await row()
    const outcomes = await Promise.all([startSandbox(deps, sandbox), startSandbox(deps, sandbox)])
    expect(outcomes.map((outcome) => outcome?.state)).toEqual(['ready', 'ready'])
    expect((await deps.driver.inspect(sandbox.id)).phase).toBe('ready')
    expect(await running()).toEqual([sandbox.id])
  })

  it('reserved by a container meanwhile ends with a claim of that container', async () => {
    const sandbox = await row()
    const by = { tenant: 'tnt_x', containerId: 'cntr_x' }
    const starting = startSandbox(deps, sandbox)
    expect(await deps.table.sandboxes.reserve(sandbox.id, by, deps.clock.now())).not.toBeNull()
    expect(await starting).toMatchObject({ state: 'claimed', claimedBy: by })
    expect(await deps.table.sandboxes.reserve(sandbox.id, by, deps.clock.now())).toBeNull()
  })
})

describe('the warm pool', () => {
  it('is filled exactly to its size by repeated refills', async () => {
    const sized = { ...deps, poolSizes: { '1g': 2 } }
    const pool = createPool(sized)
    await Promise.all([pool.refill(), pool.refill(), pool.refill()])
    await pool.refill()
    // Each refill measures the pool before it starts sandboxes; the last one finds none missing.
    expect([measured('PoolReady').at(-1), measured('PoolMissing').at(-1)]).toEqual([2, 0])
    expect((await deps.table.sandboxes.ready('1g', 10)).length).toBe(2)
  })

  it('is drained to a smaller size without stopping claimed sandboxes', async () => {
    const [kept, ...others] = await deps.table.sandboxes.ready('1g', 10)
    if (kept === undefined) throw new Error('The pool is empty.')
    await deps.table.sandboxes.claim(
      kept.id,
      { tenant: 'tnt_x', containerId: 'cntr_x' },
      { now: deps.clock.now(), dueAt: deps.clock.now() + 30_000 },
    )
    await createPool({ ...deps, poolSizes: {} }).refill()
    expect(await deps.table.sandboxes.ready('1g', 10)).toEqual([])
    const left = await running()
    expect(left).toContain(kept.id)
    for (const { id } of others) expect(left).not.toContain(id)
  })
})

describe('the reconciler', () => {
  it('stops the sandbox of a failed start that still runs, and keeps its row', async () => {
    const failed = await row()
    await startSandbox(deps, failed)
    const now = deps.clock.now()
    const change = { state: 'gone', failedStart: { from: now, to: now }, dueAt: now + 600_000 } as const
    expect(await deps.table.sandboxes.move(failed.id, { from: ['ready'] }, change)).not.toBeNull()
    expect(await running()).toContain(failed.id)
    expect(await reconcile(deps)).toMatchObject({ failed: 0, orphans: 1 })
    expect(await running()).not.toContain(failed.id)
    expect(await deps.table.sandboxes.get(failed.id)).toMatchObject({ state: 'gone' })
  })

  it('removes dead sandboxes, sandboxes without a container and sandboxes without a row', async () => {
    const dead = await row()
    await startSandbox(deps, dead)
    await deps.driver.stop(dead.id)
    const unheld = await row({ tenant: 'tnt_x', containerId: 'cntr_gone' })
    await startSandbox(deps, unheld)
    const orphan = newSandbox({ memoryTier: '1g', image: deps.driver.images.resolve().reference, claimedBy: null }, deps.clock.now())
    await deps.driver.start(
      { sandboxId: orphan.id, memoryTier: '1g', publicKey: orphan.publicKey, isAwaited: true },
      AbortSignal.timeout(50_000),
    )
    ahead = 10 * 60_000
    try {
      const outcome = await reconcile(deps)
      expect(outcome).toMatchObject({ failed: 0, orphans: 1 })
    } finally {
      ahead = 0
    }
    const [seconds] = measured('SandboxSeconds')
    expect(seconds).toBeGreaterThan(0)
    expect(measured('SandboxCost')[0]).toBeCloseTo((seconds ?? 0) * 0.01, 9)
    const left = await running()
    for (const { id } of [dead, unheld, orphan]) {
      expect(left).not.toContain(id)
      expect(await deps.table.sandboxes.get(id)).toBeNull()
    }
  })
})
