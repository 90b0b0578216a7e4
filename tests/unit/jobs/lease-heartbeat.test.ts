import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LEASE_MS, LeaseLostError } from '../../../services/jobs/lease.ts'
import { startLeaseHeartbeat, type HeartbeatOptions } from '../../../services/jobs/lease-heartbeat.ts'

const T0 = 1_000_000
beforeEach(() => void vi.useFakeTimers({ now: T0 }))
afterEach(() => void vi.useRealTimers())

const clock = { now: () => Date.now() }
const held = { fence: 2, lease: { owner: 'w', expiresAt: T0 + LEASE_MS }, cancelRequestedAt: null }

function start(options: Partial<HeartbeatOptions> = {}) {
  const renewals: number[] = []
  const renew = async (expiresAt: number): Promise<boolean> => (renewals.push(expiresAt), true)
  const heartbeat = startLeaseHeartbeat({ id: 'exec_1', clock, renew, ...options })
  return { heartbeat, renewals }
}

describe('a lease heartbeat', () => {
  it('renews every ten seconds until it is stopped', async () => {
    const { heartbeat, renewals } = start()
    await vi.advanceTimersByTimeAsync(25_000)
    heartbeat.stop()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(renewals).toEqual([T0 + 10_000 + LEASE_MS, T0 + 20_000 + LEASE_MS])
    expect(heartbeat.reason).toBeNull()
  })

  it('stops the step with LeaseLostError when a renewal is refused', async () => {
    const { heartbeat } = start({ renew: async () => false })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(heartbeat.reason).toBe('lost')
    expect(heartbeat.signal.reason).toBeInstanceOf(LeaseLostError)
  })

  it('repeats a renewal that could not be sent', async () => {
    let calls = 0
    const renew = async (): Promise<boolean> => {
      calls += 1
      if (calls === 1) throw new Error('The table does not answer')
      return true
    }
    const { heartbeat } = start({ renew })
    await vi.advanceTimersByTimeAsync(20_000)
    expect([calls, heartbeat.reason]).toEqual([2, null])
  })

  it('stops the step at its deadline, also one that has passed', async () => {
    const { heartbeat } = start({ deadlineAt: T0 + 5_000 })
    await vi.advanceTimersByTimeAsync(4_999)
    expect(heartbeat.reason).toBeNull()
    await vi.advanceTimersByTimeAsync(1)
    expect(heartbeat.reason).toBe('overdue')
    expect(start({ deadlineAt: T0 }).heartbeat.reason).toBe('overdue')
  })

  it('detects a cancellation within a second, and at once after a request to read', async () => {
    const cancelled = { ...held, cancelRequestedAt: T0 }
    const polling = start({ watched: { row: held, read: async () => cancelled } })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(polling.heartbeat.reason).toBe('cancelled')
    const asked = start({ watched: { row: held, read: async () => cancelled } })
    await asked.heartbeat.checkRow()
    expect(asked.heartbeat.reason).toBe('cancelled')
    expect(start({ watched: { row: cancelled, read: async () => cancelled } }).heartbeat.reason).toBe('cancelled')
  })

  it("counts another worker's fencing token and a missing row as lost, whatever came before", async () => {
    let row: { fence: number; cancelRequestedAt: number | null } | null = { ...held, cancelRequestedAt: T0 }
    const { heartbeat } = start({ watched: { row: held, read: async () => row } })
    await heartbeat.checkRow()
    row = { fence: 3, cancelRequestedAt: null }
    await heartbeat.checkRow()
    expect(heartbeat.reason).toBe('lost')
    const removed = start({ watched: { row: held, read: async () => null } })
    await removed.heartbeat.checkRow()
    expect(removed.heartbeat.reason).toBe('lost')
  })

  it('counts a lease that ran out without a renewal as lost', async () => {
    const renew = (): Promise<boolean> => Promise.reject(new Error('The table does not answer'))
    const { heartbeat } = start({ renew, watched: { row: held, read: async () => held } })
    await vi.advanceTimersByTimeAsync(LEASE_MS - 1)
    expect(heartbeat.reason).toBeNull()
    await vi.advanceTimersByTimeAsync(1_001)
    expect(heartbeat.reason).toBe('lost')
  })
})
