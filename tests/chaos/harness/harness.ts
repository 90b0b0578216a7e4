import { acceptExecution } from '../../../services/operations/executions/accept-execution.ts'
import { createContainer } from '../../../services/operations/containers/create-container.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { hasEnded } from '../../../services/model/executions/execution.ts'
import { newId } from '../../../services/model/ids.ts'
import { loadResult } from '../../../services/operations/executions/load-result.ts'
import { newObjectKey } from '../../../services/model/object-keys.ts'
import type { Queue } from '../../../services/ports/queue.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { createHistory, type History, type Job } from '../history.ts'
import { createManualQueue, type ManualQueue } from './manual-queue.ts'
import { faultyDriver, type Faults } from './faults.ts'
import { seeded } from '../../support/seeded.ts'
import { startFakePlatform, type FakePlatform } from './fake-platform.ts'
import type { Ports } from './killable-ports.ts'
import type { Script } from './scripted-kernel.ts'
import type { ChaosStorage, StoragePorts } from './storage/chaos-storage.ts'
import { startChaosStorage } from './storage/start-chaos-storage.ts'

export interface Harness {
  readonly history: History
  readonly storage: ChaosStorage
  readonly platform: FakePlatform
  readonly manualQueue: ManualQueue
  readonly faults: Faults
  /** Ports with injected faults for workers that receive from the manual queue. */
  readonly manualPorts: Ports
  /** Ports with injected faults for workers that consume the queues. */
  readonly queuedPorts: Ports
  /** Ports without injected faults. */
  readonly reliablePorts: Ports
  readonly tenants: readonly string[]
  newContainer(tenant?: string): Promise<Container>
  /** Stores a file as a user's upload does. */
  upload(container: Container): Promise<void>
  /** Accepts a job as the API does and returns its expected output. */
  accept(container: Container, options?: AcceptOptions): Promise<Job>
  hasEnded(job: Job): Promise<boolean>
  /** Reads the result of a job as a client does and adds it to the history. */
  observe(job: Job): Promise<void>
  stop(): Promise<void>
}

export interface AcceptOptions {
  readonly lines?: number
  /** Bytes added to each line. */
  readonly lineBytes?: number
  readonly file?: boolean
  readonly pauseMs?: number
  readonly imageBytes?: number
  readonly now?: number
  readonly through?: Queue
}

/** Starts the storage that CELLBLOCK_STORAGE names, a fake compute platform with scripted sandboxes, and the history. The same `seed` gives the same faults. */
export async function startHarness(
  options: { readonly seed?: number; readonly isDurable?: boolean; readonly canSuspend?: boolean } = {},
): Promise<Harness> {
  const history = createHistory()
  const faults: Faults = { rate: 0, history, random: seeded(options.seed ?? 1) }
  const storage = await startChaosStorage({ history, faults, isDurable: options.isDurable ?? false })
  const platform = await startFakePlatform(history, options)
  const manualQueue = createManualQueue(history)
  const link = createSandboxLink()
  const portsOf = (ports: StoragePorts): Ports => ({ ...ports, driver: platform.driver, link })
  const reliablePorts = portsOf(storage.reliable)
  const queuedPorts = { ...portsOf(storage.faulty), driver: faultyDriver(platform.driver, faults) }
  const tenants = [newId('tenant'), newId('tenant')]
  let containers = 0

  return {
    history,
    storage,
    platform,
    manualQueue,
    faults,
    reliablePorts,
    queuedPorts,
    manualPorts: { ...queuedPorts, queue: manualQueue.queue },
    tenants,

    newContainer: (tenant = tenants[containers++ % tenants.length] ?? '') =>
      createContainer(reliablePorts.table, { tenant, subject: null, name: 'chaos', memoryTier: '1g' }, Date.now()),

    async upload({ tenant, id }) {
      const bytes = Buffer.from(`${id} upload`)
      const objectKey = newObjectKey(tenant, 'files', id)
      await reliablePorts.objects.put(objectKey, bytes, { contentType: 'text/plain' })
      await reliablePorts.table.files.put({
        v: 1,
        tenant,
        id: newId('containerFile'),
        containerId: id,
        path: `${newId('file')}.txt`,
        bytes: bytes.length,
        sha256: '',
        mime: 'text/plain',
        source: 'user',
        createdAt: Date.now(),
        objectKey,
        executionId: null,
        isCurrent: true,
        state: 'stored',
        sandboxGeneration: 0,
      })
      await reliablePorts.table.containers.filesChanged(tenant, id, Date.now())
    },

    async accept(
      { tenant, id: container },
      { lines = 3, lineBytes = 0, file = true, pauseMs = 0, imageBytes = 0, now = Date.now(), through = manualQueue.queue } = {},
    ) {
      const execution = newId('execution')
      const marker = execution.slice(5)
      const said = Array.from({ length: lines }, (_, line) => `${marker} ${line}${'.'.repeat(lineBytes)}\n`)
      const job: Job = { tenant, container, execution, marker, stdout: said.join(''), file: file ? `${marker}.txt` : null }
      const script: Script = { container, marker, lines: said, file: job.file, pauseMs, imageBytes }
      history.add({ type: 'requested', job })
      await acceptExecution(
        { table: reliablePorts.table, queue: through },
        {
          tenant,
          subject: null,
          id: execution,
          containerId: container,
          responseId: null,
          source: { kind: 'code', code: JSON.stringify(script) },
          timeoutSeconds: 60,
          onError: 'stop',
          storeHistory: true,
          metadata: {},
          publicUrl: 'http://127.0.0.1',
        },
        now,
      )
      history.add({ type: 'accepted', execution })
      return job
    },

    async hasEnded({ tenant, execution }) {
      const row = await reliablePorts.table.executions.get(tenant, execution)
      return row === null || hasEnded(row.status)
    },

    async observe({ tenant, execution }) {
      const row = await reliablePorts.table.executions.get(tenant, execution)
      if (row === null) return
      const result = await loadResult(reliablePorts.objects, row)
      const owner = { kind: 'execution', tenant, id: execution } as const
      const logged = await reliablePorts.table.events.read<ExecutionEvent>(owner, 0, 10_000)
      const events = [...logged, ...row.tailEvents]
      const files = (result?.files ?? []).map((file) => file.path)
      const lost = (result?.lost ?? []).map(({ what }) => what)
      history.add({
        type: 'observed',
        execution,
        status: row.status,
        reason: row.reason,
        stdout: result?.stdout ?? '',
        files,
        lost,
        events,
      })
    },

    async stop() {
      await platform.stop()
      await link.close()
      await storage.stop()
    },
  }
}
