import { isSuspended, type Container } from '../../services/model/containers/container.ts'
import type { ExecutionLanguage } from '../../services/model/executions/language.ts'
import { newId } from '../../services/model/ids.ts'
import { forkContainer } from '../../services/operations/containers/fork-container.ts'
import { createLimitReader } from '../../services/operations/tenancy/limit-reader.ts'
import { createResourceCounts } from '../../services/operations/tenancy/resource-counts.ts'
import { createRunStep } from '../../services/workers/run/step/run-step.ts'
import type { RunBench } from '../support/run-bench.ts'
import { startSuspendingBench, type SuspendingBench } from './suspending-bench.ts'

const POLL_MS = 10

interface Ran {
  readonly stdout: string | undefined
  readonly lost: readonly string[] | undefined
  readonly sandboxId: string | null
}

/** Containers that are copied with their processes. */
export interface ForkingBench {
  readonly bench: RunBench
  readonly suspending: SuspendingBench
  /** A container after this code. */
  withState(code: string): Promise<Container>
  /** As the API and the workers do it together. */
  fork(source: Container, count: number): Promise<readonly Container[]>
  /** Resumes the container if it is suspended. */
  run(container: Container, code: string, language?: ExecutionLanguage): Promise<Ran>
}

export async function startForkingBench(options: { readonly image: string }): Promise<ForkingBench> {
  const suspending = await startSuspendingBench(options)
  const { bench } = suspending
  return {
    bench,
    suspending,
    async withState(code) {
      const { id } = await bench.newContainer()
      await bench.warm()
      const { status, result } = await bench.run(id, code)
      if (status !== 'succeeded') throw new Error(`The code ended as ${status}: ${JSON.stringify(result?.error)}`)
      return bench.container(id)
    },
    fork: (source, count) => fork(suspending, source, count),
    async run({ id }, code, language) {
      const now = await bench.container(id)
      const { result, sandboxId } = isSuspended(now) ? await suspending.runResumed(id, code, language) : await bench.run(id, code, language)
      return { stdout: result?.stdout, lost: result?.lost.map(({ what }) => what), sandboxId }
    },
  }
}

/** Places what waits for the place worker. */
async function placeWaiting({ bench, place }: SuspendingBench): Promise<void> {
  for (const { id: sandboxId, state, checkpoint } of await bench.storage.table.sandboxes.ofTenant(bench.tenant)) {
    if (state === 'suspending') await place({ v: 1, type: 'sandbox.suspend', sandboxId })
    if (state === 'starting' && checkpoint !== undefined) await place({ v: 1, type: 'sandbox.start', sandboxId })
  }
}

async function fork(suspending: SuspendingBench, source: Container, count: number): Promise<readonly Container[]> {
  const { bench } = suspending
  const { table, objects, queue } = bench.storage
  const { clock } = bench.deps
  const counts = createResourceCounts({ table, objects, limits: createLimitReader(table.tenants, clock), clock })
  const wanted = Array.from({ length: count }, () => ({ id: newId('container'), name: 'copy' }))
  let isOver = false
  const forking = forkContainer({ table, objects, queue, clock, counts }, source, { wanted, signal: AbortSignal.timeout(50_000) }).finally(
    () => void (isOver = true),
  )
  const { tenant, id: containerId, lastActiveAt: idleSince } = source
  await createRunStep(bench.deps)({ v: 1, type: 'container.hibernate', tenant, containerId, idleSince, isForCopy: true })
  while (!isOver) {
    await placeWaiting(suspending)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  await placeWaiting(suspending)
  return forking
}
