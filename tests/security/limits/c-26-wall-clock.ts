import { atMost, percentile, same, type Bar, type Form } from './bar.ts'
import { until, type Cell, type Ground } from './ground.ts'

const py = String.raw
const ROUNDS: Record<Form, number> = { short: 2, long: 100 }
/** Each keeps one processor busy, which is all that a sandbox may use. In the short form the other suites are the load. */
const LOADS: Record<Form, number> = { short: 0, long: 2 }
const LIMIT_SECONDS = 1

/** Keeps the one processor of its sandbox busy. */
const LOAD = py`while True: pass`

/** Ways to stay busy past a limit; the second hears no interrupt, so it is killed. */
const LATE = [py`while True: pass`, py`sum(range(10**12))`, py`time.sleep(3600)`, py`subprocess.run(["sleep", "3600"])`]

export const wallClock: Bar = {
  id: 'C-26',
  title: 'wall-clock limit under full load',
  async measure(ground: Ground, form: Form) {
    const cell = await ground.shared()
    const loads: Cell[] = []
    for (let load = 0; load < LOADS[form]; load++) loads.push(await ground.cell())
    const running = await Promise.all(loads.map((load) => ground.client.run(load.containerId, { code: LOAD, timeout_seconds: 3_600 }, 0)))
    const overshoots: number[] = []
    const ends: string[] = []
    for (let round = 0; round < ROUNDS[form]; round++) {
      const { status, reason, usage } = await cell.run(LATE[round % LATE.length] ?? '', LIMIT_SECONDS)
      ends.push(`${status} ${reason}`)
      overshoots.push((usage['run_ms'] ?? Number.NaN) - LIMIT_SECONDS * 1_000)
    }
    await Promise.all(running.map(({ id }) => ground.client.json('POST', `/v1/executions/${id}/cancel`, {})))
    await Promise.all(loads.map((load) => load.remove()))
    // What comes next must not pay for their end.
    for (const load of loads) await until(async () => !(await load.isThere()), 60_000)
    return [
      same('how they end', [...new Set(ends)], ['timed_out deadline']),
      atMost(form, 'overshoot, 99th percentile', percentile(overshoots, 0.99), 1_000, 'ms'),
      atMost(form, 'overshoot, median', percentile(overshoots, 0.5), 1_000, 'ms'),
    ]
  },
}
