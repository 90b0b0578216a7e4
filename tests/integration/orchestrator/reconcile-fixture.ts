import { singleImage } from '../../../services/model/containers/images.ts'
import { afterAll, beforeAll, expect } from 'vitest'
import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import { newId } from '../../../services/model/ids.ts'
import type { HibernateMessage } from '../../../services/model/messages.ts'
import type { ReconcilerDeps, RunDeps } from '../../../services/workers/deps.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { createSupervisorClient } from '../../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { executionRow } from '../../support/rows.ts'
import { startStorage, type Storage } from '../../support/start-storage.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

export const HOUR_MS = 3_600_000

/** A reconciler and a run worker without sandboxes, with separate storage per test file and a clock that the tests set. */
export class ReconcileFixture {
  storage!: Storage
  deps!: ReconcilerDeps
  now = Date.now()
  /** The containers with a hibernation request. */
  readonly sent: HibernateMessage[] = []

  constructor() {
    beforeAll(async () => {
      this.storage = await startStorage()
      const { table, queue, objects } = this.storage
      this.deps = {
        table,
        queue: {
          ...queue,
          send: async (name, message, options) => {
            if (message.type === 'container.hibernate') this.sent.push(message)
            await queue.send(name, message, options)
          },
        },
        objects,
        signals: createLocalSignals(),
        clock: { now: () => this.now },
        telemetry: silentTelemetry,
        driver: noSandboxes,
        poolSizes: {},
        maxStarts: 1,
        costPerSecond: () => 0,
        hibernateAfterMs: 300_000,
        workerId: 'reconcile-test',
      }
    })
    afterAll(() => this.storage.stop())
  }

  newContainer(): Promise<Container> {
    return createContainer(this.storage.table, { tenant: newId('tenant'), subject: null, name: 'x', memoryTier: '1g' }, this.now)
  }

  /** Creates an execution and returns its id. */
  async accept({ tenant, id: containerId }: Container): Promise<string> {
    const { id, subject, responseId, source, timeoutSeconds, onError, storeHistory, metadata, publicUrl } = executionRow()
    const wanted = { tenant, containerId, id, subject, responseId, source, timeoutSeconds, onError, storeHistory, metadata, publicUrl }
    await acceptExecution(this.deps, wanted, this.now)
    return id
  }

  runDeps(): RunDeps {
    return {
      ...this.deps,
      supervisor: createSupervisorClient({ link: createSandboxLink() }),
      images: singleImage('none'),
      stepBudgetMs: 50_000,
    }
  }

  runStep(): ReturnType<typeof createRunStep> {
    return createRunStep(this.runDeps())
  }

  sendStep({ tenant, id: containerId }: Container, executionId: string): Promise<void> {
    return this.runStep()({ v: 1, type: 'execution.step', tenant, containerId, executionId })
  }

  async passAt(at: number): Promise<void> {
    this.now = at
    expect(await reconcile(this.deps)).toMatchObject({ failed: 0 })
  }
}
