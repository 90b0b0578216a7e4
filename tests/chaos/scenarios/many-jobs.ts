import pLimit from 'p-limit'
import type { Queue } from '../../../services/ports/queue.ts'
import type { Job } from '../history.ts'
import type { Harness } from '../harness/harness.ts'

const CONCURRENCY = 16

interface ManyOptions {
  readonly pauseMs?: number
  readonly perContainer?: number
}

/** Accepts `count` jobs concurrently, in containers of both tenants. */
export async function acceptMany(harness: Harness, count: number, through: Queue, options: ManyOptions = {}): Promise<readonly Job[]> {
  const { pauseMs = 0, perContainer = 20 } = options
  const slots = pLimit(CONCURRENCY)
  const containers = await Promise.all(Array.from({ length: Math.ceil(count / perContainer) }, () => slots(() => harness.newContainer())))
  // Within a container the jobs are accepted one after another, so the queue order is known.
  const ofContainers = containers.map(async (container, index) => {
    const jobs: Job[] = []
    const share = Math.min(perContainer, count - index * perContainer)
    for (let job = 0; job < share; job++) {
      const options = { through, pauseMs, lines: 1 + (job % 5), file: job % 3 === 0 }
      jobs.push(await slots(() => harness.accept(container, options)))
    }
    return jobs
  })
  return (await Promise.all(ofContainers)).flat()
}

/** Reads every result as a client does. */
export async function observeAll(harness: Harness, jobs: readonly Job[]): Promise<void> {
  const slots = pLimit(CONCURRENCY)
  await Promise.all(jobs.map((job) => slots(() => harness.observe(job))))
}
