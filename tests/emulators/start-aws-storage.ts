import { createStorageClients, type StorageClients } from '../../services/adapters/storage/clients.ts'
import { createDynamoTable } from '../../services/adapters/storage/dynamodb/dynamo-table.ts'
import { createS3ObjectStore } from '../../services/adapters/storage/s3/s3-object-store.ts'
import { createSqsConsumer } from '../../services/adapters/storage/sqs/sqs-consumer.ts'
import { createSqsQueue } from '../../services/adapters/storage/sqs/sqs-queue.ts'
import type { Storage } from './storage.ts'
import { createResources, type AwsResources } from './create-resources.ts'
import { startEmulators, type Emulators } from './start-emulators.ts'

export interface AwsStorage extends Storage {
  readonly clients: StorageClients
  readonly resources: AwsResources
  readonly emulators: Emulators
}

/** The AWS adapters on emulators, through the SDK. */
export async function startAwsStorage(): Promise<AwsStorage> {
  const faults: unknown[] = []
  const emulators = await startEmulators((error) => void faults.push(error))
  const { region, credentials, endpoints } = emulators
  const clients = createStorageClients({ region, credentials, endpoints })
  const resources = await createResources(clients)
  const objects = createS3ObjectStore({ client: clients.s3, bucket: resources.bucket })
  return {
    table: createDynamoTable({ client: clients.dynamodb, tableName: resources.tableName, objects }),
    objects,
    queue: createSqsQueue({ client: clients.sqs, queueUrls: resources.queueUrls }),
    consumer: createSqsConsumer({ client: clients.sqs, ...resources }),
    objectHandler: null,
    clients,
    resources,
    emulators,
    faults,
    async stop() {
      clients.close()
      await emulators.stop()
    },
  }
}
