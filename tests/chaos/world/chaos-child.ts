import { consumeQueue } from '../../../services/storage/sqs/consumer.ts'
import { createStorageClients, type StorageEndpoints } from '../../../services/storage/clients.ts'
import { createDynamoTable } from '../../../services/storage/dynamodb/dynamo-table.ts'
import { createS3ObjectStore } from '../../../services/storage/s3/s3-object-store.ts'
import { createSqsQueue } from '../../../services/storage/sqs/sqs-queue.ts'
import { createLink } from '../../../services/orchestrator/link/create-link.ts'
import type { LocalResources } from '../../../services/local/emulators/create-local-resources.ts'
import { createHistory } from '../history.ts'
import { noSandboxes } from '../../support/no-sandboxes.ts'
import { createWorker } from './worker.ts'

/** What a worker process is told on its command line. */
export interface ChildPlan {
  readonly name: string
  readonly region: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  readonly endpoints: StorageEndpoints
  readonly resources: LocalResources
  readonly image: string
  /** The clock of all processes together: this many times as fast as the wall's since then. */
  readonly speed: number
  readonly began: number
}

/** A process of its own that follows executions until it is killed: it has nothing but its connections to what the parent holds. */
const plan = JSON.parse(process.argv[2] ?? '{}') as ChildPlan
const { region, credentials, endpoints, resources } = plan
const clients = createStorageClients({ region, credentials, endpoints })
const objects = createS3ObjectStore({ client: clients.s3, bucket: resources.bucket, presign: clients.presign })
const worker = createWorker({
  name: plan.name,
  history: createHistory(),
  clock: { now: () => plan.began + (Date.now() - plan.began) * plan.speed },
  ports: {
    objects,
    table: createDynamoTable({ client: clients.dynamodb, tableName: resources.tableName, objects }),
    queue: createSqsQueue({ client: clients.sqs, queueUrls: resources.queueUrls }),
    driver: { ...noSandboxes, image: plan.image },
    link: createLink(),
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
  handler: (message, { messageId }) => worker.handle({ queue: 'executions', message, id: messageId }),
})
