import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetQueueAttributesCommand, GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { describeCause } from '../../../model/describe-cause.ts'
import { QUEUES, type QueueName } from '../../../model/messages.ts'
import { createStorageClients } from '../../../adapters/storage/clients.ts'
import { createDynamoItems } from '../../../adapters/storage/dynamodb/dynamo-items.ts'
import { FairCalls } from '../../../adapters/storage/fairness/fair-calls.ts'
import { createTable } from '../../../adapters/storage/rows/table.ts'
import { createS3ObjectStore } from '../../../adapters/storage/s3/s3-object-store.ts'
import { createSqsConsumer } from '../../../adapters/storage/sqs/sqs-consumer.ts'
import { createSqsQueue } from '../../../adapters/storage/sqs/sqs-queue.ts'
import { ConfigError, type AwsStorageConfig } from '../config.ts'
import type { LocalStorage } from './local-storage.ts'

/**
 * Calls to the table at the same time. One tenant alone has half of them: at 5 ms for each call this is as many as the process can make, as each takes
 * half a millisecond of its time.
 */
const TABLE_CALLS = 16

/**
 * DynamoDB, SQS and S3 through the SDK's default region, credentials and endpoints (`AWS_REGION`, `AWS_ENDPOINT_URL_*` …). Throws
 * ConfigError when the table, the bucket or a queue cannot be reached.
 */
export async function openAwsStorage(config: AwsStorageConfig): Promise<LocalStorage> {
  const clients = createStorageClients({ isEmulated: config.isEmulated })
  const { tableName, bucket, queueUrls } = config
  const objects = createS3ObjectStore({ client: clients.s3, bucket })
  const items = createDynamoItems(clients.dynamodb, tableName)
  takeTurns(clients.dynamodb)
  const table = createTable(items, objects)
  const queue = createSqsQueue({ client: clients.sqs, queueUrls })
  try {
    await Promise.all([
      reachable(`The DynamoDB table ${tableName} (TABLE_NAME)`, table.check()),
      reachable(`The S3 bucket ${bucket} (BUCKET_NAME)`, objects.check()),
      reachable('A queue (TURNS_QUEUE_URL, EXECUTIONS_QUEUE_URL, PLACEMENTS_QUEUE_URL)', queue.check()),
    ])
    const deadLetterUrls = await deadLetterUrlsOf(clients.sqs, queueUrls)
    return {
      table,
      objects,
      queue,
      consumer: createSqsConsumer({ client: clients.sqs, queueUrls, deadLetterUrls }),
      queueSizes: null,
      items,
      objectHandler: null,
      backUp: null,
      close: async () => clients.close(),
    }
  } catch (error) {
    clients.close()
    throw error
  }
}

/** A function of AWS serves one request at a time; this process serves those of all tenants. */
function takeTurns(client: DynamoDBClient): void {
  const calls = new FairCalls(TABLE_CALLS)
  client.middlewareStack.add((next) => (args) => calls.during(() => next(args)), { step: 'initialize', name: 'takeTurns' })
}

async function reachable(what: string, check: Promise<void>): Promise<void> {
  await check.catch((cause: unknown) => {
    throw new ConfigError(
      `${what} cannot be used: ${describeCause(cause)}. Check its name, AWS_REGION, the credentials and AWS_ENDPOINT_URL_*.`,
      { cause },
    )
  })
}

/** The dead-letter queue of each queue, by its redrive policy. */
async function deadLetterUrlsOf(client: SQSClient, queueUrls: AwsStorageConfig['queueUrls']): Promise<Readonly<Record<QueueName, string>>> {
  const urls = await Promise.all(QUEUES.map(async (queue) => [queue, await deadLetterUrlOf(client, queueUrls[queue])] as const))
  return Object.fromEntries(urls) as Record<QueueName, string>
}

async function deadLetterUrlOf(client: SQSClient, queueUrl: string): Promise<string> {
  const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['RedrivePolicy'] }))
  const policy = JSON.parse(Attributes?.RedrivePolicy ?? '{}') as { readonly deadLetterTargetArn?: string }
  const name = policy.deadLetterTargetArn?.split(':').at(-1)
  if (name === undefined)
    throw new ConfigError(`The queue ${queueUrl} has no dead-letter queue. Give it a redrive policy with maxReceiveCount.`)
  const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: name }))
  if (QueueUrl === undefined) throw new ConfigError(`The dead-letter queue ${name} does not exist. Create it.`)
  return QueueUrl
}
