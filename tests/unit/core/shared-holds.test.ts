import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { HOLD_MS, SharedHolds } from '../../../services/operations/tenancy/shared-holds.ts'
import type { Hold } from '../../../services/operations/tenancy/hold.ts'
import { limitsOf } from '../../../services/model/tenants/tenant-limits.ts'
import type { SharedRowState, SharedRowStore } from '../../../services/ports/shared-row-store.ts'

const CAPACITY = 64
const rows = new Map<string, SharedRowState<object>>()
let isDown = false
const sharedRows: Pick<SharedRowStore, 'get' | 'replace'> = {
  get: async <Values extends object>(tenant: string) => (rows.get(tenant) ?? { revision: 0, values: null }) as SharedRowState<Values>,
  replace: async (tenant, _, { values, ...seen }) => {
    if (isDown) throw new Error('down')
    if ((rows.get(tenant)?.revision ?? 0) !== seen.revision) return false
    rows.set(tenant, { revision: seen.revision + 1, values })
    return true
  },
}
const processOf = (openStreams = 500): SharedHolds =>
  new SharedHolds({
    sharedRows,
    limits: { of: async () => limitsOf({ openStreams }) },
    clock: { now: () => Date.now() },
    capacity: CAPACITY,
  })

beforeEach(() => {
  rows.clear()
  isDown = false
  vi.useFakeTimers({ now: 1_000_000 })
})
afterEach(() => void vi.useRealTimers())

/** Opens calls, each in its own process, until one is refused. */
async function openAll(tenant: string): Promise<readonly Hold[]> {
  const open: Hold[] = []
  for (;;) {
    const hold = await processOf()
      .take(tenant)
      .catch(() => null)
    if (hold === null) return open
    open.push(hold)
  }
}

it('gives one tenant half of the calls, and a second one a quarter beside it', async () => {
  expect(await openAll('first')).toHaveLength(CAPACITY / 2)
  expect(await openAll('second')).toHaveLength(CAPACITY / 4)
  expect(await openAll('third')).toHaveLength(CAPACITY / 4)
  // Small tenants are admitted in any case; Lambda itself refuses what it cannot run.
  await processOf().take('small')
})

it('refuses with the limit and a time, and admits a call when one has ended', async () => {
  const [first] = await openAll('noisy')
  await expect(processOf().take('noisy')).rejects.toMatchObject({
    code: 'too_many_streams',
    limit: { name: 'open_streams', retryAfterSeconds: 5 },
  })
  await first?.release()
  await first?.release()
  const next = await processOf().take('noisy')
  await expect(processOf().take('noisy')).rejects.toThrow('open calls')
  await next.release()
})

it('holds the limit of a tenant over all processes', async () => {
  const [one, other] = [processOf(1), processOf(1)]
  const hold = await one.take('t')
  await expect(other.take('t')).rejects.toThrow('1 open calls, its maximum')
  expect(await other.used('t')).toEqual({ all: null, own: 1 })
  await hold.release()
  await other.take('t')
})

it('keeps a call open while its tenant is within its share, and ends the others after two minutes', async () => {
  const quiet = await processOf().take('quiet')
  const noisy = await openAll('noisy')
  const other = await openAll('other')
  expect(other).toHaveLength(CAPACITY / 4)
  await vi.advanceTimersByTimeAsync(HOLD_MS + 10_000)
  expect(quiet.signal?.aborted).toBe(false)
  const ended = noisy.filter(({ signal }) => signal?.aborted === true)
  expect(ended.length).toBeGreaterThan(0)
  expect(noisy.length - ended.length).toBeLessThanOrEqual(CAPACITY / 2)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(quiet.signal?.aborted).toBe(false)
  await quiet.release()
  expect(await processOf().used('quiet')).toMatchObject({ own: 0 })
})

it('stops counting the calls of processes that died', async () => {
  const open = await openAll('noisy')
  expect(open).toHaveLength(CAPACITY / 2)
  vi.clearAllTimers()
  vi.setSystemTime(Date.now() + HOLD_MS + 10_000)
  expect(await openAll('noisy')).toHaveLength(CAPACITY / 2)
})

it('refuses a call whose tenant has too many changes at the same moment', async () => {
  isDown = true
  await expect(processOf().take('t')).rejects.toMatchObject({ code: 'too_many_streams' })
})
