import type { DockerDriverOptions } from '../../services/adapters/drivers/docker/docker-driver.ts'
import type { Execution } from '../../services/model/executions/execution.ts'
import type { ExecutionLanguage } from '../../services/model/executions/language.ts'
import type { PlacementMessage } from '../../services/model/messages.ts'
import type { Sandbox } from '../../services/model/sandboxes/sandbox.ts'
import { createPlaceStep } from '../../services/workers/place/place-step.ts'
import { createPool } from '../../services/workers/place/pool.ts'
import { startRunBench, type RunBench } from '../support/run-bench.ts'
import { gvisorOptions } from './gvisor-driver.ts'

/** Run steps and place steps whose sandboxes can be suspended. */
export interface SuspendingBench {
  readonly bench: RunBench
  readonly place: (message: PlacementMessage) => Promise<void>
  readonly sandboxOf: (containerId: string) => Promise<Sandbox>
  /** Suspends an idle container as the workers do. */
  readonly suspend: (containerId: string) => Promise<Sandbox>
  /** The first step requests the resumption, and the next one runs the code. */
  readonly runResumed: (containerId: string, code: string, language?: ExecutionLanguage) => Promise<Execution>
}

export async function startSuspendingBench(options: {
  readonly image: string
  /** More options of the driver, made from those of gVisor. */
  readonly driver?: (of: Awaited<ReturnType<typeof gvisorOptions>>) => Partial<DockerDriverOptions>
}): Promise<SuspendingBench> {
  const common = await gvisorOptions()
  const driver = { ...common, ...options.driver?.(common) }
  const bench = await startRunBench({ image: options.image, stage: `suspension-test-${process.pid}`, driver })
  const place = createPlaceStep(bench.placing, createPool(bench.placing))
  const sandboxOf = async (id: string): Promise<Sandbox> => {
    const { sandboxId } = await bench.container(id)
    const sandbox = sandboxId === null ? null : await bench.storage.table.sandboxes.get(sandboxId)
    if (sandbox === null) throw new Error('The container has no sandbox')
    return sandbox
  }
  return {
    bench,
    place,
    sandboxOf,
    async suspend(id) {
      await bench.hibernate(id)
      await place({ v: 1, type: 'sandbox.suspend', sandboxId: (await sandboxOf(id)).id })
      return sandboxOf(id)
    },
    async runResumed(id, code, language) {
      const execution = await bench.accept(id, code, language)
      await bench.step(id, execution)
      await place({ v: 1, type: 'sandbox.start', sandboxId: (await sandboxOf(id)).id })
      await bench.step(id, execution)
      return bench.ended(execution)
    },
  }
}
