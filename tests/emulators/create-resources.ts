import { setTimeout as delay } from 'node:timers/promises'
import {
  CreateTableCommand,
  DescribeTableCommand,
  ResourceInUseException,
  type CreateTableCommandInput,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb'
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import { CreateQueueCommand, GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { QUEUES, type QueueName } from '../../services/model/messages.ts'
import { tableDefinition, type IndexDefinition } from '../../services/adapters/storage/dynamodb/table-definition.ts'
import { queueDefinitions } from '../../services/adapters/storage/sqs/queue-definitions.ts'

export interface AwsResources {
  readonly tableName: string
  readonly bucket: string
  readonly queueUrls: Readonly<Record<QueueName, string>>
  readonly deadLetterUrls: Readonly<Record<QueueName, string>>
}

/** Creates the table, the queues with their dead-letter queues and the bucket from the definitions, unless they exist. */
export async function createResources(
  clients: { readonly dynamodb: DynamoDBClient; readonly sqs: SQSClient; readonly s3: S3Client },
  tableName = 'cellblock',
): Promise<AwsResources> {
  const bucket = 'cellblock'
  const [queues] = await Promise.all([
    Promise.all(QUEUES.map((queue) => createQueue(clients.sqs, queue))),
    createTable(clients.dynamodb, tableName),
    clients.s3.send(new CreateBucketCommand({ Bucket: bucket })),
  ])
  const byName = (urlOf: (queue: CreatedQueue) => string) =>
    Object.fromEntries(queues.map((queue) => [queue.queue, urlOf(queue)])) as Record<QueueName, string>
  return { tableName, bucket, queueUrls: byName((queue) => queue.url), deadLetterUrls: byName((queue) => queue.deadLetterUrl) }
}

const TABLE_PAUSE_MS = 2

/** A table that was made a moment ago takes no rows yet. */
async function createTable(dynamodb: DynamoDBClient, tableName: string): Promise<void> {
  await dynamodb.send(new CreateTableCommand(tableInput(tableName))).catch(ignoreExistingTable)
  while ((await dynamodb.send(new DescribeTableCommand({ TableName: tableName }))).Table?.TableStatus !== 'ACTIVE')
    await delay(TABLE_PAUSE_MS)
}

function tableInput(tableName: string): CreateTableCommandInput {
  const { partitionKey, sortKey, indexes } = tableDefinition
  const keySchema = (index: Pick<IndexDefinition, 'partitionKey' | 'sortKey'>): CreateTableCommandInput['KeySchema'] => [
    { AttributeName: index.partitionKey.name, KeyType: 'HASH' },
    { AttributeName: index.sortKey.name, KeyType: 'RANGE' },
  ]
  const projection = (index: IndexDefinition) => {
    if (index.projection === 'ALL') return { ProjectionType: 'ALL' as const }
    return index.projection.length === 0
      ? { ProjectionType: 'KEYS_ONLY' as const }
      : { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...index.projection] }
  }
  const attributes = [partitionKey, sortKey, ...indexes.flatMap((index) => [index.partitionKey, index.sortKey])]
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...new Map(attributes.map((attribute) => [attribute.name, attribute])).values()].map(({ name, type }) => ({
      AttributeName: name,
      AttributeType: type,
    })),
    KeySchema: keySchema({ partitionKey, sortKey }),
    GlobalSecondaryIndexes: indexes.map((index) => ({ IndexName: index.name, KeySchema: keySchema(index), Projection: projection(index) })),
  }
}

function ignoreExistingTable(error: unknown): void {
  if (!(error instanceof ResourceInUseException)) throw error
}

interface CreatedQueue {
  readonly queue: QueueName
  readonly url: string
  readonly deadLetterUrl: string
}

async function createQueue(sqs: SQSClient, queue: QueueName): Promise<CreatedQueue> {
  const definition = queueDefinitions[queue]
  const deadLetterUrl = await queueUrl(sqs, definition.deadLetterName, {})
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: deadLetterUrl, AttributeNames: ['QueueArn'] }))
  const url = await queueUrl(sqs, definition.name, {
    VisibilityTimeout: String(definition.visibilityTimeoutSeconds),
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: Attributes?.QueueArn, maxReceiveCount: definition.maxReceiveCount }),
  })
  return { queue, url, deadLetterUrl }
}

async function queueUrl(sqs: SQSClient, QueueName: string, Attributes: Record<string, string>): Promise<string> {
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))
  if (QueueUrl === undefined) throw new Error(`The queue "${QueueName}" was made but has no address.`)
  return QueueUrl
}
