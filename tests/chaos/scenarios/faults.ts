import { withScaledDelays, startWorkerPool, waitUntilEnded } from '../harness/worker-pool.ts'
import { startHarness, type Harness } from '../harness/harness.ts'
import { acceptMany, observeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 1_000
const RATES = [0, 0.05, 0.1, 0.3] as const
const TIMEOUT_MS = 1_800_000
/** Leases, the reconciler and queue delays run this many times faster than wall time. Leases are renewed by wall time, so the factor is at most two. */
const SPEED = 2
/** The short form does not wait for real leases either. */
const SHORT_SPEED = 10
/** A small number: with many faults, a long queue of one container would dominate the measured time. */
const PER_CONTAINER = 4
/**
 * The maximum slowdown at 10 % faults, of the time until 99 % of the jobs have ended. The last ones met a fault when their worker gave up its lease, so
 * that they wait until it expires (30 s by the workers' clock), however fast the others are.
 */
const MAX_SLOWDOWN_AT_10_PERCENT = 2
const MOST = 0.99
/** The slowdown is compared only from this many jobs on. */
const MIN_JOBS_FOR_SLOWDOWN = 500

async function runAt(
  rate: number,
  count: number,
  speed: number,
): Promise<{ harness: Harness; stuck: number; seconds: number; secondsOfMost: number; failed: readonly string[] }> {
  const harness = await startHarness({ seed: 1 + rate * 100 })
  harness.faults.rate = rate
  const ports = { ...harness.queuedPorts, queue: withScaledDelays(harness.queuedPorts.queue, speed) }
  const pool = startWorkerPool(harness, { workers: 4, speed, ports })
  try {
    const began = performance.now()
    const jobs = await acceptMany(harness, count, harness.reliablePorts.queue, { perContainer: PER_CONTAINER })
    const ends: number[] = []
    const open = await waitUntilEnded(harness, jobs, TIMEOUT_MS, () => ends.push((performance.now() - began) / 1000))
    const seconds = (performance.now() - began) / 1000
    await observeAll(harness, jobs)
    const { entries } = harness.history
    const failed = entries.flatMap((entry) =>
      entry.type === 'observed' && entry.status !== 'succeeded' ? [`${entry.execution} ${entry.status} ${entry.reason}`] : [],
    )
    const secondsOfMost = ends[Math.ceil(MOST * count) - 1] ?? seconds
    return { harness, stuck: open.length, seconds, secondsOfMost, failed }
  } finally {
    await pool.stop()
    await harness.stop()
  }
}

/** Injects throttling, 5xx replies, timeouts and lost replies into table, object store, queues and driver. */
export const faults: Scenario = {
  name: 'faults',
  thresholds: ['D-33'],
  async run({ scale, log }) {
    const count = Math.max(16, Math.round(JOBS * scale))
    const histories = []
    const failures: string[] = []
    const figures: Record<string, number> = {}
    const seconds = new Map<number, number>()
    for (const rate of scale < 0.05 ? [0.1] : RATES) {
      const played = await runAt(rate, count, scale < 0.05 ? SHORT_SPEED : SPEED)
      const injected = played.harness.history.entries.filter((entry) => entry.type === 'fault').length
      histories.push(played.harness.history)
      seconds.set(rate, played.secondsOfMost)
      if (played.stuck > 0) failures.push(`${played.stuck} jobs are stuck at ${rate * 100} %`)
      // The code of these jobs is correct, so every job must succeed.
      for (const job of played.failed) failures.push(`${job} at ${rate * 100} %`)
      figures[`faults_at_${rate * 100}%`] = injected
      figures[`failed_at_${rate * 100}%`] = played.failed.length
      figures[`seconds_at_${rate * 100}%`] = Math.round(played.seconds)
      figures[`seconds_of_99%_at_${rate * 100}%`] = Math.round(played.secondsOfMost)
      log(
        `faults: ${count} jobs at ${rate * 100} %: ${injected} faults, ${played.failed.length} failed, 99 % in ${played.secondsOfMost.toFixed(1)} s, all in ${played.seconds.toFixed(1)} s`,
      )
    }
    const [withoutFaults = 0, atTenth = 0] = [seconds.get(0), seconds.get(0.1)]
    if (count >= MIN_JOBS_FOR_SLOWDOWN && atTenth > MAX_SLOWDOWN_AT_10_PERCENT * withoutFaults)
      failures.push(`with 10 % faults 99 % of the jobs take ${(atTenth / withoutFaults).toFixed(1)} times as long`)
    return { histories, failures, figures }
  },
}
