import pLimit from 'p-limit'
import type { Queue } from '../../../services/core/ports/queue.ts'
import type { Job } from '../history.ts'
import type { World } from '../world/world.ts'

const AT_ONCE = 16

interface ManyOptions {
  readonly pauseMs?: number
  readonly perContainer?: number
}

/** Accepts so many jobs at once, over containers of both tenants. */
export async function acceptMany(world: World, count: number, through: Queue, options: ManyOptions = {}): Promise<readonly Job[]> {
  const { pauseMs = 0, perContainer = 20 } = options
  const slots = pLimit(AT_ONCE)
  const containers = await Promise.all(Array.from({ length: Math.ceil(count / perContainer) }, () => slots(() => world.newContainer())))
  // In the order of their containers' queues, which is the order in which they were accepted.
  const ofContainers = containers.map(async (container, index) => {
    const jobs: Job[] = []
    const share = Math.min(perContainer, count - index * perContainer)
    for (let job = 0; job < share; job++) {
      const options = { through, pauseMs, lines: 1 + (job % 5), file: job % 3 === 0 }
      jobs.push(await slots(() => world.accept(container, options)))
    }
    return jobs
  })
  return (await Promise.all(ofContainers)).flat()
}

/** Reads every end as its client does. */
export async function seeAll(world: World, jobs: readonly Job[]): Promise<void> {
  const slots = pLimit(AT_ONCE)
  await Promise.all(jobs.map((job) => slots(() => world.see(job))))
}
