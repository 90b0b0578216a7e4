import { atMost, percentile, same, type Threshold } from './threshold.ts'
import type { Form } from './harness.ts'
import { until, type TestContainer, type LimitHarness } from './harness.ts'

const py = String.raw
const ROUNDS: Record<Form, number> = { short: 2, long: 100 }
/** The number of busy sandboxes, each with one processor. In the short form the other suites are the load. */
const LOADS: Record<Form, number> = { short: 0, long: 2 }
const LIMIT_SECONDS = 1

/** Keeps the processor of its sandbox busy. */
const LOAD = py`while True: pass`

/** Ways to stay busy past a limit. The second cannot be interrupted, so it is killed. */
const LATE = [py`while True: pass`, py`sum(range(10**12))`, py`time.sleep(3600)`, py`subprocess.run(["sleep", "3600"])`]

export const wallClock: Threshold = {
  id: 'C-26',
  title: 'wall-clock limit under full load',
  async measure(harness: LimitHarness, form: Form) {
    const cell = await harness.shared()
    const loads: TestContainer[] = []
    for (let load = 0; load < LOADS[form]; load++) loads.push(await harness.cell())
    const running = await Promise.all(loads.map((load) => harness.client.run(load.containerId, { code: LOAD, timeout_seconds: 3_600 }, 0)))
    const overshoots: number[] = []
    const ends: string[] = []
    for (let round = 0; round < ROUNDS[form]; round++) {
      const { status, reason, usage } = await cell.run(LATE[round % LATE.length] ?? '', LIMIT_SECONDS)
      ends.push(`${status} ${reason}`)
      overshoots.push((usage['run_ms'] ?? Number.NaN) - LIMIT_SECONDS * 1_000)
    }
    await Promise.all(running.map(({ id }) => harness.client.json('POST', `/v1/executions/${id}/cancel`, {})))
    await Promise.all(loads.map((load) => load.remove()))
    // Wait for their removal, so that it does not slow down the next threshold.
    for (const load of loads) await until(async () => !(await load.isThere()), 60_000)
    return [
      same('outcomes', [...new Set(ends)], ['timed_out deadline']),
      atMost(form, 'overshoot, 99th percentile', percentile(overshoots, 0.99), 1_000, 'ms'),
      atMost(form, 'overshoot, median', percentile(overshoots, 0.5), 1_000, 'ms'),
    ]
  },
}
