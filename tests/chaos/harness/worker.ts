import { systemClock, type Clock } from '../../../services/ports/clock.ts'
import type { Telemetry } from '../../../services/ports/telemetry.ts'
import type { ReconcilerDeps, RunDeps } from '../../../services/workers/deps.ts'
import { createPlaceStep } from '../../../services/workers/place/place-step.ts'
import { createPool } from '../../../services/workers/place/pool.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import type { History } from '../history.ts'
import type { Message } from './manual-queue.ts'
import { hookPorts, type Ports } from './killable-ports.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

export interface Worker {
  /** Handles one message as a queue consumer does. Resolves when the message is done; rejects when the queue would deliver it again. */
  handle(message: Message): Promise<void>
  /** One pass of the reconciler. */
  reconcile(): Promise<void>
  readonly deps: RunDeps
  readonly placing: ReconcilerDeps
}

/** A complete orchestrator on these ports: run step, place step and reconciler. */
export function createWorker(options: {
  readonly name: string
  readonly ports: Ports
  readonly history: History
  readonly clock?: Clock
  readonly telemetry?: Telemetry
  readonly poolSize?: number
  readonly stepBudgetMs?: number
}): Worker {
  const { name, history, clock = systemClock, telemetry = silentTelemetry, poolSize = 0, stepBudgetMs = 50_000 } = options
  const ports = hookPorts(options.ports, {
    after(_number, verb, answer, args) {
      history.add({ type: 'call', worker: name, verb })
      if (verb === 'objects.put') history.add({ type: 'object', key: String(args[0]) })
      if (verb !== 'executions.commit' || answer === null) return
      const { id, fence } = answer as { id: string; fence: number }
      history.add({ type: 'commit', worker: name, execution: id, fence: (args[0] as { readonly fence: number }).fence, rowFence: fence })
    },
  })
  const common = { table: ports.table, queue: ports.queue, objects: ports.objects, signals: createLocalSignals(), clock, telemetry }
  const supervisor = createSupervisorClient({ link: ports.link })
  const canSuspend = ports.driver.suspension !== undefined
  const deps: RunDeps = {
    ...{ ...common, supervisor, workerId: name, canSuspend },
    ...{ images: ports.driver.images, stepBudgetMs, costPerSecond: () => 0 },
  }
  const poolSizes = poolSize === 0 ? {} : ({ '1g': poolSize } as const)
  const placing: ReconcilerDeps = {
    ...common,
    driver: ports.driver,
    poolSizes,
    maxStarts: 4,
    costPerSecond: () => 0,
    hibernateAfterMs: 300_000,
    workerId: name,
  }
  const run = createRunStep(deps)
  const place = createPlaceStep(placing, createPool(placing))
  return {
    deps,
    placing,
    async handle(message) {
      if (message.queue === 'executions') return run(message.body)
      if (message.queue === 'placements') return place(message.body)
    },
    reconcile: async () => void (await reconcile(placing)),
  }
}
