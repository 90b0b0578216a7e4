import { createDynamoTable } from '../../services/storage/dynamodb/dynamo-table.ts'
import { createStorageClients, type StorageClients } from '../../services/storage/clients.ts'
import { createS3ObjectStore } from '../../services/storage/s3/s3-object-store.ts'
import { createSqsQueue } from '../../services/storage/sqs/sqs-queue.ts'
import { createLocalResources, type LocalResources } from '../../services/local/emulators/create-local-resources.ts'
import { startEmulators, type Emulators } from '../../services/local/emulators/start-emulators.ts'
import type { ObjectStore } from '../../services/core/ports/object-store.ts'
import type { Queue } from '../../services/core/ports/queue.ts'
import type { Table } from '../../services/core/ports/table.ts'

export interface Storage {
  readonly table: Table
  readonly objects: ObjectStore
  readonly queue: Queue
  readonly clients: StorageClients
  /** More clients, which reach the emulators by their ports; whoever asks closes them. */
  byHttp(): StorageClients
  readonly resources: LocalResources
  readonly emulators: Emulators
  /** Faults that the emulators reported. */
  readonly faults: readonly unknown[]
  stop(): Promise<void>
}

/** Table, objects and queues on the embedded emulators, through the real SDK. */
export async function startStorage(dataDir: string | null = null): Promise<Storage> {
  const faults: unknown[] = []
  const emulators = await startEmulators({ dataDir, log: (error) => void faults.push(error) })
  const { region, credentials, endpoints } = emulators
  const byHttp = (): StorageClients => createStorageClients({ region, credentials, endpoints })
  const clients = byHttp()
  emulators.connect(clients)
  const resources = await createLocalResources(clients)
  const objects = createS3ObjectStore({ client: clients.s3, bucket: resources.bucket, presign: clients.presign })
  return {
    table: createDynamoTable({ client: clients.dynamodb, tableName: resources.tableName, objects }),
    objects,
    queue: createSqsQueue({ client: clients.sqs, queueUrls: resources.queueUrls }),
    clients,
    byHttp,
    resources,
    emulators,
    faults,
    async stop() {
      clients.close()
      await emulators.stop()
    },
  }
}
