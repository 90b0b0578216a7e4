import { paced, startCrew, untilEnded } from '../world/crew.ts'
import { startWorld, type World } from '../world/world.ts'
import { acceptMany, seeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 1_000
const RATES = [0, 0.05, 0.1, 0.3] as const
const PATIENCE_MS = 1_800_000
/** Leases, the reconciler and the delays of the queues live this many times faster than the wall. Leases are renewed by the wall's time, so no more than twice. */
const SPEED = 2
/** The short form does not wait out leases either. */
const SHORT_SPEED = 10
/** Where nearly every step fails somewhere, jobs behind one another would measure the length of their queue. */
const PER_CONTAINER = 4
/** How much longer a tenth of faults may make it take. */
const SLOWER_AT_TENTH = 2
/** Below this many jobs the time says nothing. */
const ENOUGH_JOBS = 500

async function playAt(
  rate: number,
  count: number,
  speed: number,
): Promise<{ world: World; stuck: number; seconds: number; failed: readonly string[] }> {
  const world = await startWorld({ seed: 1 + rate * 100 })
  world.faults.rate = rate
  const ports = { ...world.queued, queue: paced(world.queued.queue, speed) }
  const crew = startCrew(world, { workers: 4, speed, ports })
  try {
    const began = performance.now()
    const jobs = await acceptMany(world, count, world.clean.queue, { perContainer: PER_CONTAINER })
    const open = await untilEnded(world, jobs, PATIENCE_MS)
    const seconds = (performance.now() - began) / 1000
    await seeAll(world, jobs)
    const { entries } = world.history
    const failed = entries.flatMap((entry) =>
      entry.type === 'seen' && entry.status !== 'succeeded' ? [`${entry.execution} ${entry.status} ${entry.reason}`] : [],
    )
    return { world, stuck: open.length, seconds, failed }
  } finally {
    await crew.stop()
    await world.stop()
  }
}

/** Throttles, 5xx, timeouts and lost answers of table, store, queues and driver. */
export const faults: Scenario = {
  name: 'faults',
  bars: ['D-33'],
  async run({ scale, say }) {
    const count = Math.max(16, Math.round(JOBS * scale))
    const histories = []
    const complaints: string[] = []
    const figures: Record<string, number> = {}
    const seconds = new Map<number, number>()
    for (const rate of scale < 0.05 ? [0.1] : RATES) {
      const played = await playAt(rate, count, scale < 0.05 ? SHORT_SPEED : SPEED)
      const injected = played.world.history.entries.filter((entry) => entry.type === 'fault').length
      histories.push(played.world.history)
      seconds.set(rate, played.seconds)
      if (played.stuck > 0) complaints.push(`${played.stuck} jobs are stuck at ${rate * 100} %`)
      // Code that does nothing wrong succeeds: a typed end for no reason of its own is to its caller nearly a lost job.
      for (const job of played.failed) complaints.push(`${job} at ${rate * 100} %`)
      figures[`faults_at_${rate * 100}%`] = injected
      figures[`failed_at_${rate * 100}%`] = played.failed.length
      figures[`seconds_at_${rate * 100}%`] = Math.round(played.seconds)
      say(`faults: ${count} jobs at ${rate * 100} %: ${injected} faults, ${played.failed.length} failed, ${played.seconds.toFixed(1)} s`)
    }
    const [usual = 0, atTenth = 0] = [seconds.get(0), seconds.get(0.1)]
    if (count >= ENOUGH_JOBS && atTenth > SLOWER_AT_TENTH * usual)
      complaints.push(`10 % of faults take ${(atTenth / usual).toFixed(1)} times as long`)
    return { histories, faults: complaints, figures }
  },
}
