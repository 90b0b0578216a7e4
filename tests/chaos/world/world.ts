import { acceptExecution } from '../../../services/core/executions/accept-execution.ts'
import { createContainer } from '../../../services/core/containers/create-container.ts'
import type { Container } from '../../../services/core/containers/container.ts'
import type { ExecutionEvent } from '../../../services/core/events.ts'
import { hasEnded } from '../../../services/core/executions/execution.ts'
import { newId } from '../../../services/core/ids.ts'
import { loadResult } from '../../../services/core/executions/load-result.ts'
import { newObjectKey } from '../../../services/core/object-keys.ts'
import type { Queue } from '../../../services/core/ports/queue.ts'
import { createLocalResources, type LocalResources } from '../../../services/local/emulators/create-local-resources.ts'
import { createLink } from '../../../services/orchestrator/link/create-link.ts'
import { createStorageClients, type StorageClients } from '../../../services/storage/clients.ts'
import { createDynamoTable } from '../../../services/storage/dynamodb/dynamo-table.ts'
import { createS3ObjectStore } from '../../../services/storage/s3/s3-object-store.ts'
import { createSqsQueue } from '../../../services/storage/sqs/sqs-queue.ts'
import { createHistory, type History, type Job } from '../history.ts'
import { createCourier, type Courier } from './courier.ts'
import { faultyDriver, injectFaults, seeded, type Faults } from './faults.ts'
import { startFleet, type Fleet } from './fleet.ts'
import type { Ports } from './killable.ts'
import { startRestartableEmulators, type RestartableEmulators } from './restartable-emulators.ts'
import type { Script } from './scripted-kernel.ts'

export interface World {
  readonly history: History
  readonly emulators: RestartableEmulators
  readonly fleet: Fleet
  readonly courier: Courier
  readonly resources: LocalResources
  /** The clients of the workers, with faults in them; the world's own work goes through others. */
  readonly clients: StorageClients
  readonly faults: Faults
  /** For workers that get their letters by hand; `queued` for those that poll SQS. */
  readonly byHand: Ports
  readonly queued: Ports
  /** Without faults. */
  readonly clean: Ports & { readonly sqs: StorageClients['sqs'] }
  readonly tenants: readonly string[]
  newContainer(tenant?: string): Promise<Container>
  /** A file that a user uploads. */
  upload(container: Container): Promise<void>
  /** Accepts a job as the API does, and foretells what it says. */
  accept(container: Container, options?: AcceptOptions): Promise<Job>
  hasEnded(job: Job): Promise<boolean>
  /** Reads the end of a job as a client does, into the history. */
  see(job: Job): Promise<void>
  /** After a restart of the emulators: the queues and the bucket again. */
  recreate(): Promise<void>
  stop(): Promise<void>
}

export interface AcceptOptions {
  readonly lines?: number
  readonly file?: boolean
  readonly pauseMs?: number
  readonly pictureBytes?: number
  readonly now?: number
  readonly through?: Queue
}

/** Emulators, a fleet of scripted sandboxes and a history of everything. `seed` repeats the faults of an earlier run. */
export async function startWorld(options: { readonly seed?: number; readonly isDurable?: boolean } = {}): Promise<World> {
  const history = createHistory()
  const emulators = await startRestartableEmulators(history, { isDurable: options.isDurable ?? false })
  const { region, credentials, endpoints } = emulators
  const own = createStorageClients({ region, credentials, endpoints })
  const clients = createStorageClients({ region, credentials, endpoints })
  const faults: Faults = { rate: 0, history, random: seeded(options.seed ?? 1) }
  injectFaults(clients, faults)
  const resources = await createLocalResources(own)
  const fleet = await startFleet(history)
  const courier = createCourier(history)
  const link = createLink()
  const portsOf = ({ dynamodb, s3, sqs, presign }: StorageClients): Ports => {
    const objects = createS3ObjectStore({ client: s3, bucket: resources.bucket, presign })
    return {
      objects,
      table: createDynamoTable({ client: dynamodb, tableName: resources.tableName, objects }),
      queue: createSqsQueue({ client: sqs, queueUrls: resources.queueUrls }),
      driver: fleet.driver,
      link,
    }
  }
  const clean = { ...portsOf(own), sqs: own.sqs }
  const queued = { ...portsOf(clients), driver: faultyDriver(fleet.driver, faults) }
  const tenants = [newId('tenant'), newId('tenant')]
  let containers = 0

  return {
    history,
    emulators,
    fleet,
    courier,
    resources,
    clients,
    faults,
    clean,
    queued,
    byHand: { ...queued, queue: courier.queue },
    tenants,

    newContainer: (tenant = tenants[containers++ % tenants.length] ?? '') =>
      createContainer(clean.table, { tenant, subject: null, name: 'chaos', memoryTier: '1g' }, Date.now()),

    async upload({ tenant, id }) {
      const bytes = Buffer.from(`${id} upload`)
      const objectKey = newObjectKey(tenant, 'files', id)
      await clean.objects.put(objectKey, bytes, { contentType: 'text/plain' })
      await clean.table.files.put({
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
      await clean.table.containers.filesChanged(tenant, id, Date.now())
    },

    async accept(
      { tenant, id: container },
      { lines = 3, file = true, pauseMs = 0, pictureBytes = 0, now = Date.now(), through = courier.queue } = {},
    ) {
      const execution = newId('execution')
      const mark = execution.slice(5)
      const said = Array.from({ length: lines }, (_, line) => `${mark} ${line}\n`)
      const job: Job = { tenant, container, execution, mark, stdout: said.join(''), file: file ? `${mark}.txt` : null }
      const script: Script = { container, mark, lines: said, file: job.file, pauseMs, pictureBytes }
      history.add({ type: 'asked', job })
      await acceptExecution(
        { table: clean.table, queue: through },
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
      const row = await clean.table.executions.get(tenant, execution)
      return row === null || hasEnded(row.status)
    },

    async see({ tenant, execution }) {
      const row = await clean.table.executions.get(tenant, execution)
      if (row === null) return
      const result = await loadResult(clean.objects, row)
      const owner = { kind: 'execution', tenant, id: execution } as const
      const logged = await clean.table.events.read<ExecutionEvent>(owner, 0, 10_000)
      const events = [...logged, ...row.tailEvents]
      const files = (result?.files ?? []).map((file) => file.path)
      const lost = (result?.lost ?? []).map(({ what }) => what)
      history.add({ type: 'seen', execution, status: row.status, reason: row.reason, stdout: result?.stdout ?? '', files, lost, events })
    },

    recreate: async () => void (await createLocalResources(own)),

    async stop() {
      await fleet.stop()
      await link.close()
      own.close()
      clients.close()
      await emulators.stop()
    },
  }
}
