import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { DataResources } from './data-resources.ts'
import type { QueueName } from '../services/model/messages.ts'
import { tableDefinition } from '../services/adapters/storage/dynamodb/table-definition.ts'

/** One permission of a role. */
export interface IamAccess {
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly conditions?: Record<string, Record<string, unknown>>
}

export const toPolicyStatement = ({ actions, resources, conditions }: IamAccess): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources], ...(conditions === undefined ? {} : { conditions }) })

type TableVerb = 'Scan' | 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'BatchWriteItem'

export const tableAccess = ({ table }: DataResources, verbs: readonly TableVerb[]): IamAccess => ({
  actions: verbs.map((verb) => `dynamodb:${verb}`),
  resources: [table.tableArn, ...tableDefinition.indexes.map(({ name }) => `${table.tableArn}/index/${name}`)],
})

type ObjectVerb = 'GetObject' | 'PutObject' | 'DeleteObject' | 'AbortMultipartUpload'

/** ListBucket makes S3 answer 404 for a missing object; without it S3 answers 403. */
export const objectAccess = (
  { bucket }: DataResources,
  verbs: readonly ObjectVerb[],
  prefixes: readonly string[] = ['tenants/*'],
): readonly IamAccess[] => [
  { actions: ['s3:ListBucket'], resources: [bucket.bucketArn] },
  { actions: verbs.map((verb) => `s3:${verb}`), resources: prefixes.map((prefix) => bucket.arnForObjects(prefix)) },
]

export const sendAccess = ({ queues }: DataResources, names: readonly QueueName[]): IamAccess => ({
  actions: ['sqs:SendMessage'],
  resources: names.map((name) => queues[name].queue.queueArn),
})

/** Lambda's poller uses the role of the function. */
export const consumeAccess = (queues: readonly IQueue[]): IamAccess => ({
  actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'],
  resources: queues.map(({ queueArn }) => queueArn),
})

/** The role may use the key through these services only: it cannot decrypt with the key directly. */
export const keyAccess = ({ key, region }: DataResources, services: readonly ('dynamodb' | 's3' | 'secretsmanager')[]): IamAccess => ({
  actions: ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'GenerateDataKeyWithoutPlaintext', 'ReEncryptFrom', 'ReEncryptTo'].map(
    (verb) => `kms:${verb}`,
  ),
  resources: [key.keyArn],
  conditions: { StringEquals: { 'kms:ViaService': services.map((service) => `${service}.${region}.amazonaws.com`) } },
})
