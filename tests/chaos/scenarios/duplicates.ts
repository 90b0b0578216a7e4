import { seeded } from '../world/faults.ts'
import { duplicating, startCrew, untilEnded, untilQuiet } from '../world/crew.ts'
import { startWorld } from '../world/world.ts'
import { acceptMany, seeAll } from './many-jobs.ts'
import type { Scenario } from './scenario.ts'

const JOBS = 1_000
const MAX_COPIES = 10
const MAX_LATE_SECONDS = 4
const PATIENCE_MS = 900_000
const HURRIED_MS = 40_000

/** Every message arrives two to ten times, side by side, late and out of order, also when its job has long ended. */
export const duplicates: Scenario = {
  name: 'duplicates',
  bars: ['D-32'],
  async run({ scale, say, hurry = false }) {
    const world = await startWorld()
    const queue = duplicating(world.clean.queue, seeded(32), MAX_COPIES, scale < 0.05 ? 1 : MAX_LATE_SECONDS)
    const crew = startCrew(world, { workers: 4, speed: 1, ports: { ...world.clean, queue } })
    try {
      const jobs = await acceptMany(world, Math.max(16, Math.round(JOBS * scale)), queue)
      // Nudges for jobs whose turn has not come: the reconciler sends such too.
      for (const { tenant, container: containerId, execution: executionId } of jobs.toReversed())
        await queue.send('executions', { v: 1, type: 'execution.step', tenant, containerId, executionId }, { group: tenant })
      const open = await untilEnded(world, jobs, hurry ? HURRIED_MS : PATIENCE_MS)
      // Copies that are still under way come to jobs that have ended.
      await untilQuiet(world, world.clean.sqs, 60_000)
      await seeAll(world, jobs)
      const delivered = world.history.entries.filter((entry) => entry.type === 'delivered').length
      say(`duplicates: ${jobs.length} jobs, ${delivered} deliveries`)
      return { histories: [world.history], faults: open.map((job) => `${job.execution} is stuck`), figures: { deliveries: delivered } }
    } finally {
      await crew.stop()
      await world.stop()
    }
  },
}
