import type { Container } from '../../../services/model/containers/container.ts'
import type { Job } from '../history.ts'
import type { Worker } from '../harness/worker.ts'
import type { Harness } from '../harness/harness.ts'

/** The offset of the workers' clock from wall time, which scenarios advance. */
export interface ClockOffset {
  ms: number
}

const MAX_ROUNDS = 40
/** Longer than the delay after which the reconciler handles a row. */
const ROUND_MS = 31_000

/** Delivers every message. A message whose handler fails is delivered again in the next round. */
export async function deliverAll(harness: Harness, worker: Worker): Promise<void> {
  const again = []
  for (let message = harness.manualQueue.receive(); message !== undefined; message = harness.manualQueue.receive()) {
    try {
      await worker.handle(message)
    } catch {
      again.push(message)
    }
  }
  harness.manualQueue.messages.push(...again)
}

/** Runs a healthy worker and the reconciler until these jobs have ended. Returns the time taken, in milliseconds of the clock. */
export async function settle(harness: Harness, worker: Worker, clockOffset: ClockOffset, jobs: readonly Job[]): Promise<number> {
  const began = clockOffset.ms
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await deliverAll(harness, worker)
    const open = await Promise.all(jobs.map((job) => harness.hasEnded(job)))
    if (open.every(Boolean)) return clockOffset.ms - began
    clockOffset.ms += ROUND_MS
    await worker.reconcile()
  }
  return clockOffset.ms - began
}

/** Deletes containers and runs the reconciler. Returns the ids of containers that still have a row. */
export async function sweep(
  harness: Harness,
  worker: Worker,
  clockOffset: ClockOffset,
  containers: readonly Container[],
): Promise<readonly string[]> {
  const { table } = harness.reliablePorts
  for (const { tenant, id } of containers) await table.containers.markDeleted(tenant, id, Date.now() + clockOffset.ms)
  const left = async (): Promise<readonly string[]> => {
    const rows = await Promise.all(containers.map(({ tenant, id }) => table.containers.get(tenant, id)))
    return rows.flatMap((row) => (row === null ? [] : [row.id]))
  }
  for (let round = 0; round < MAX_ROUNDS && (await left()).length > 0; round++) {
    clockOffset.ms += ROUND_MS
    await worker.reconcile()
    await deliverAll(harness, worker)
  }
  return left()
}
