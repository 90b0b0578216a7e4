import { singleImage } from '../../services/model/containers/images.ts'
import Docker from 'dockerode'
import { acceptExecution } from '../../services/operations/executions/accept-execution.ts'
import type { Container } from '../../services/model/containers/container.ts'
import type { ContainerLimits } from '../../services/model/tenants/tenant-limits.ts'
import { createContainer } from '../../services/operations/containers/create-container.ts'
import { hasEnded, type Execution } from '../../services/model/executions/execution.ts'
import type { ExecutionLanguage } from '../../services/model/executions/language.ts'
import { newId } from '../../services/model/ids.ts'
import { newSandbox } from '../../services/operations/sandboxes/new-sandbox.ts'
import { systemClock } from '../../services/ports/clock.ts'
import type { WideEvent } from '../../services/model/wide-event.ts'
import type { ReconcilerDeps, RunDeps } from '../../services/workers/deps.ts'
import { createDockerDriver, type DockerDriverOptions } from '../../services/adapters/drivers/docker/docker-driver.ts'
import { createSandboxLink } from '../../services/adapters/link/create-sandbox-link.ts'
import { stopSandbox } from '../../services/workers/place/stop-sandbox.ts'
import { startSandbox } from '../../services/workers/place/start-sandbox.ts'
import { createRunStep } from '../../services/workers/run/step/run-step.ts'
import { createSupervisorClient } from '../../services/adapters/supervisor-client/supervisor-client.ts'
import { createLocalSignals } from '../../services/adapters/storage/signals/local-signals.ts'
import { executionRow } from './rows.ts'
import { startStorage, type Storage } from './start-storage.ts'

type Ports = Pick<RunDeps, 'table' | 'queue' | 'objects'>

/** Run steps on real storage and real Docker sandboxes. The test acts as queue, place worker and clock. */
export interface RunBench {
  readonly storage: Storage
  readonly deps: RunDeps
  readonly placing: ReconcilerDeps
  readonly tenant: string
  readonly events: readonly WideEvent[]
  /** Milliseconds by which the clock of the workers is ahead. */
  ahead: number
  newContainer(limits?: ContainerLimits): Promise<Container>
  /** The row as it is now. */
  container(id: string): Promise<Container>
  /** A warm sandbox in the pool. */
  warm(): Promise<void>
  accept(containerId: string, code: string, language?: ExecutionLanguage): Promise<string>
  step(containerId: string, executionId: string, ports?: Ports): Promise<void>
  /** Requests hibernation for the present idle period. */
  hibernate(containerId: string, ports?: Ports): Promise<void>
  /** Stops sandboxes without a container, as the place worker does. */
  stopUnheld(): Promise<void>
  ended(id: string): Promise<Execution>
  /** Accepts an execution, runs its steps and returns the ended row. */
  run(containerId: string, code: string, language?: ExecutionLanguage): Promise<Execution>
  stop(): Promise<void>
}

export async function startRunBench(options: {
  readonly image: string
  readonly stage: string
  /** More options of the driver. */
  readonly driver?: Partial<DockerDriverOptions>
}): Promise<RunBench> {
  const storage = await startStorage()
  const { table, queue, objects } = storage
  const supervisor = createSupervisorClient({ link: createSandboxLink() })
  const driver = createDockerDriver({
    docker: new Docker(),
    images: singleImage(options.image),
    stage: options.stage,
    supervisor,
    preload: [],
    ...options.driver,
  })
  const canSuspend = driver.suspension !== undefined
  const tenant = newId('tenant')
  const events: WideEvent[] = []
  const common = {
    table,
    queue,
    objects,
    signals: createLocalSignals(),
    telemetry: { emit: (event: WideEvent) => void events.push(event) },
    clock: { now: () => systemClock.now() + bench.ahead },
    workerId: options.stage,
  }
  const deps: RunDeps = { ...common, supervisor, canSuspend, images: driver.images, stepBudgetMs: 50_000, costPerSecond: () => 0 }
  const placing: ReconcilerDeps = { ...common, driver, poolSizes: {}, maxStarts: 1, costPerSecond: () => 0, hibernateAfterMs: 300_000 }
  const bench: RunBench = {
    storage,
    deps,
    placing,
    tenant,
    events,
    ahead: 0,
    newContainer: (limits = {}) =>
      createContainer(table, { tenant, subject: null, name: 'x', memoryTier: '1g', limits }, common.clock.now()),
    async container(id) {
      const row = await table.containers.get(tenant, id)
      if (row === null) throw new Error('There is no such container')
      return row
    },
    async warm() {
      const sandbox = newSandbox({ memoryTier: '1g', image: driver.images.resolve().reference, claimedBy: null }, common.clock.now())
      await table.sandboxes.create(sandbox)
      if ((await startSandbox(placing, sandbox)) === null) throw new Error('The sandbox did not start')
    },
    async accept(containerId, code, language = 'python') {
      const { subject, responseId, timeoutSeconds, onError, storeHistory, metadata, publicUrl } = executionRow()
      const id = newId('execution')
      const wanted = { tenant, containerId, id, subject, responseId, timeoutSeconds, onError, storeHistory, metadata, publicUrl, language }
      await acceptExecution({ table, queue }, { ...wanted, source: { kind: 'code', code } }, common.clock.now())
      return id
    },
    step: (containerId, executionId, ports = storage) =>
      createRunStep({ ...deps, table: ports.table, queue: ports.queue, objects: ports.objects })({
        v: 1,
        type: 'execution.step',
        tenant,
        containerId,
        executionId,
      }),
    async hibernate(containerId, ports = storage) {
      const { lastActiveAt: idleSince } = await bench.container(containerId)
      const step = createRunStep({ ...deps, table: ports.table, queue: ports.queue, objects: ports.objects })
      await step({ v: 1, type: 'container.hibernate', tenant, containerId, idleSince })
    },
    async stopUnheld() {
      for (const sandbox of await table.sandboxes.all()) {
        if (sandbox.claimedBy === null) continue
        const holder = await table.containers.get(sandbox.claimedBy.tenant, sandbox.claimedBy.containerId)
        if (holder?.sandboxId !== sandbox.id) await stopSandbox(placing, sandbox.id)
      }
    },
    async ended(id) {
      const row = await table.executions.get(tenant, id)
      if (row === null || !hasEnded(row.status)) throw new Error(`${id} has not ended: ${row?.status}`)
      return row
    },
    async run(containerId, code, language) {
      const id = await bench.accept(containerId, code, language)
      await bench.step(containerId, id)
      return bench.ended(id)
    },
    async stop() {
      for await (const id of driver.list()) await driver.stop(id)
      await storage.stop()
    },
  }
  return bench
}
