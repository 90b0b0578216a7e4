import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { singleImage } from '../../../services/model/containers/images.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import type { SandboxStatus } from '../../../services/ports/sandbox-driver.ts'
import { createPool, type Pool } from '../../../services/workers/place/pool.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const READY: SandboxStatus = { phase: 'ready', address: { kind: 'tcp', host: '10.0.0.1', port: 8700 } }

let storage: Storage
let pool: Pool
/** Ends the start of a sandbox, by the sandbox's number. */
let starts: PromiseWithResolvers<SandboxStatus>[]

beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

beforeEach(() => {
  starts = []
  pool = createPool({
    table: storage.table,
    queue: storage.queue,
    signals: createLocalSignals(),
    clock: systemClock,
    telemetry: silentTelemetry,
    driver: {
      ...noSandboxes,
      images: singleImage('sandbox:1'),
      start: async () => undefined,
      waitReady: () => {
        const start = Promise.withResolvers<SandboxStatus>()
        starts.push(start)
        return start.promise
      },
    },
    poolSizes: { '1g': 3 },
    maxStarts: 2,
    costPerSecond: () => 0,
  })
  return async () => {
    for (const { id } of await storage.table.sandboxes.all()) await storage.table.sandboxes.remove(id)
  }
})

const rows = () => storage.table.sandboxes.all()

describe('the pool of a machine', () => {
  it('starts one sandbox alone while none is ready, then the others together', async () => {
    const filled = pool.refill()
    await expect.poll(() => starts.length).toBe(1)
    expect(await rows()).toHaveLength(1)
    starts[0]?.resolve(READY)
    await expect.poll(() => starts.length).toBe(3)
    for (const start of starts) start.resolve(READY)
    await filled
    expect((await rows()).map(({ state }) => state)).toEqual(['ready', 'ready', 'ready'])
  })

  it('closes when the start under way has ended, and starts no more', async () => {
    void pool.refill()
    await expect.poll(() => starts.length).toBe(1)
    let isClosed = false
    const closed = pool.close().then(() => (isClosed = true))
    expect((await rows()).map(({ state }) => state)).toEqual(['starting'])
    expect(isClosed).toBe(false)
    starts[0]?.resolve(READY)
    await closed
    expect((await rows()).map(({ state }) => state)).toEqual(['ready'])
  })
})
