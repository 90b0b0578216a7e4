import { describe, expect, it } from 'vitest'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import { HostAdmission, readHostCapacity, type HostCapacity } from '../../../services/entries/local/host-admission.ts'

const MiB = 1024 ** 2

function machine(first: HostCapacity) {
  const state = { capacity: first, now: 0 }
  const events: WideEvent[] = []
  const admission = new HostAdmission({
    capacity: async () => state.capacity,
    reserveBytes: 256 * MiB,
    clock: { now: () => state.now },
    telemetry: { emit: (event) => void events.push(event) },
  })
  return { state, events, admission }
}

describe('admission of sandbox starts by the machine', () => {
  it('admits starts until the reserve of memory is reached, and counts those whose memory is not in use yet', async () => {
    const { admission, events, state } = machine({ memoryBytes: 700 * MiB, diskBytes: null })
    expect([await admission.admits('1g', 'execution'), await admission.admits('1g', 'execution')]).toEqual([true, true])
    expect(await admission.admits('1g', 'execution')).toBe(false)
    expect(events).toEqual([
      expect.objectContaining({ event: 'admission', outcome: 'refused', tier: '1g', purpose: 'execution', memory_bytes: 700 * MiB }),
    ])
    state.now = 10_000
    expect(await admission.admits('1g', 'execution')).toBe(true)
  })

  it('keeps a larger reserve from the pool than from executions that wait', async () => {
    const { admission } = machine({ memoryBytes: 600 * MiB, diskBytes: null })
    expect([await admission.admits('1g', 'pool'), await admission.admits('1g', 'execution')]).toEqual([false, true])
  })

  it('refuses starts while the disk is nearly full', async () => {
    const { admission, state } = machine({ memoryBytes: null, diskBytes: 100 * MiB })
    expect(await admission.admits('1g', 'execution')).toBe(false)
    state.capacity = { memoryBytes: null, diskBytes: 300 * MiB }
    expect(await admission.admits('1g', 'execution')).toBe(true)
  })

  it('reads what this machine has left', async () => {
    const { memoryBytes, diskBytes } = await readHostCapacity(import.meta.dirname)
    expect(diskBytes).toBeGreaterThan(0)
    if (process.platform === 'linux') expect(memoryBytes).toBeGreaterThan(0)
    expect(await readHostCapacity('/no/such/folder')).toMatchObject({ diskBytes: null })
  })
})
