import { setTimeout as delay } from 'node:timers/promises'
import { startCrew, untilEnded } from '../world/crew.ts'
import { startWorld } from '../world/world.ts'
import { acceptMany, seeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 300
const RESTARTS = 5
const DOWN_MS = 500
/** The short form does not wait out real leases. */
const SHORT_SPEED = 10
const RECOVERED_MS = 60_000

/** Table, queues and store go away in the middle of the work and come back; every message that was under way is lost with them. */
export const restarts: Scenario = {
  name: 'restarts',
  bars: ['D-42'],
  async run({ scale, say }) {
    const world = await startWorld({ isDurable: true })
    const crew = startCrew(world, { workers: 2, speed: scale < 0.05 ? SHORT_SPEED : 1, ports: world.clean })
    try {
      const jobs = await acceptMany(world, Math.max(12, Math.round(JOBS * scale)), world.clean.queue, { pauseMs: 30, perContainer: 6 })
      const times = Math.max(1, Math.round(RESTARTS * scale))
      for (let time = 0; time < times; time++) {
        await delay(100)
        await world.emulators.restart(DOWN_MS)
        await world.recreate()
      }
      const began = performance.now()
      const open = await untilEnded(world, jobs, 10 * RECOVERED_MS)
      const seconds = (performance.now() - began) / 1000
      await seeAll(world, jobs)
      say(`restarts: ${times}, ${jobs.length} jobs, all ended ${seconds.toFixed(0)} s after the last`)
      const complaints = open.map((job) => `${job.execution} is stuck`)
      return { histories: [world.history], faults: complaints, figures: { restarts: times, seconds_until_all_ended: Math.round(seconds) } }
    } finally {
      await crew.stop()
      await world.stop()
    }
  },
}
