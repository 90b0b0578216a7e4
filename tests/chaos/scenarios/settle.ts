import type { Container } from '../../../services/core/containers/container.ts'
import type { Job } from '../history.ts'
import type { Worker } from '../world/worker.ts'
import type { World } from '../world/world.ts'

/** Time that tests may let pass at once. */
export interface Ahead {
  ms: number
}

const MAX_ROUNDS = 40
/** More than the reconciler waits before it looks at anything. */
const ROUND_MS = 31_000

/** Hands out every letter. One that fails is handed out again in the next round, as the queue would. */
export async function deliverAll(world: World, worker: Worker): Promise<void> {
  const again = []
  for (let letter = world.courier.take(); letter !== undefined; letter = world.courier.take()) {
    try {
      await worker.handle(letter)
    } catch {
      again.push(letter)
    }
  }
  world.courier.letters.push(...again)
}

/** Lets a healthy worker and the reconciler go on until these jobs have ended; how long that took, in the clock's milliseconds. */
export async function settle(world: World, worker: Worker, ahead: Ahead, jobs: readonly Job[]): Promise<number> {
  const began = ahead.ms
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await deliverAll(world, worker)
    const open = await Promise.all(jobs.map((job) => world.hasEnded(job)))
    if (open.every(Boolean)) return ahead.ms - began
    ahead.ms += ROUND_MS
    await worker.reconcile()
  }
  return ahead.ms - began
}

/** Takes containers away with all they have; what is left afterwards is said. */
export async function sweep(world: World, worker: Worker, ahead: Ahead, containers: readonly Container[]): Promise<readonly string[]> {
  const { table } = world.clean
  for (const { tenant, id } of containers) await table.containers.markDeleted(tenant, id, Date.now() + ahead.ms)
  const left = async (): Promise<readonly string[]> => {
    const rows = await Promise.all(containers.map(({ tenant, id }) => table.containers.get(tenant, id)))
    return rows.flatMap((row) => (row === null ? [] : [row.id]))
  }
  for (let round = 0; round < MAX_ROUNDS && (await left()).length > 0; round++) {
    ahead.ms += ROUND_MS
    await worker.reconcile()
    await deliverAll(world, worker)
  }
  return left()
}
