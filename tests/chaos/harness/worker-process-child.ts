import { singleImage } from '../../../services/model/containers/images.ts'
import { consumeQueue } from '../../../services/adapters/storage/sqs/consumer.ts'
import { createStorageClients } from '../../../services/adapters/storage/clients.ts'
import { createDynamoTable } from '../../../services/adapters/storage/dynamodb/dynamo-table.ts'
import { createS3ObjectStore } from '../../../services/adapters/storage/s3/s3-object-store.ts'
import { createSqsQueue } from '../../../services/adapters/storage/sqs/sqs-queue.ts'
import { createSandboxLink } from '../../../services/adapters/link/create-sandbox-link.ts'
import { createHistory } from '../history.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import type { StorageAddress } from './storage/chaos-storage.ts'
import { createWorker } from './worker.ts'

/** The configuration of a worker process, passed as JSON on its command line. */
export interface WorkerProcessConfig {
  readonly name: string
  readonly storage: StorageAddress
  readonly image: string
  /** All processes share one clock: it runs `speed` times as fast as wall time from `startedAt` on. */
  readonly speed: number
  readonly startedAt: number
}

/** A separate process that runs execution steps until it is killed. It reaches the parent's storage and sandboxes only over sockets. */
const config = JSON.parse(process.argv[2] ?? '{}') as WorkerProcessConfig
const { region, credentials, endpoints, resources } = config.storage
const clients = createStorageClients({ region, credentials, endpoints })
const objects = createS3ObjectStore({ client: clients.s3, bucket: resources.bucket })
const worker = createWorker({
  name: config.name,
  history: createHistory(),
  clock: { now: () => config.startedAt + (Date.now() - config.startedAt) * config.speed },
  ports: {
    objects,
    table: createDynamoTable({ client: clients.dynamodb, tableName: resources.tableName, objects }),
    queue: createSqsQueue({ client: clients.sqs, queueUrls: resources.queueUrls }),
    driver: { ...noSandboxes, images: singleImage(config.image) },
    link: createSandboxLink(),
  },
})
process.stdout.write('working\n')
await consumeQueue({
  client: clients.sqs,
  queue: 'executions',
  queueUrl: resources.queueUrls.executions,
  concurrency: 16,
  signal: new AbortController().signal,
  onError: () => undefined,
  backOffSeconds: () => 1,
  visibilitySeconds: 6,
  handler: (message, { messageId }) => worker.handle({ queue: 'executions', body: message, id: messageId }),
})
