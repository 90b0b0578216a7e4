import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { DataStack } from './stacks/data-stack.ts'
import type { QueueName } from '../services/core/messages.ts'
import { tableDefinition } from '../services/storage/dynamodb/table-definition.ts'

/** One thing that a role may do. */
export interface Access {
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly conditions?: Record<string, Record<string, unknown>>
}

export const statementOf = ({ actions, resources, conditions }: Access): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources], ...(conditions === undefined ? {} : { conditions }) })

type TableVerb = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'BatchWriteItem'

export const tableAccess = ({ table }: DataStack, verbs: readonly TableVerb[]): Access => ({
  actions: verbs.map((verb) => `dynamodb:${verb}`),
  resources: [table.tableArn, ...tableDefinition.indexes.map(({ name }) => `${table.tableArn}/index/${name}`)],
})

type ObjectVerb = 'GetObject' | 'PutObject' | 'DeleteObject' | 'AbortMultipartUpload'

/** With the right to list comes a plain 404 for an object that is not there; without it S3 answers 403. */
export const objectAccess = ({ bucket }: DataStack, verbs: readonly ObjectVerb[]): readonly Access[] => [
  { actions: ['s3:ListBucket'], resources: [bucket.bucketArn] },
  { actions: verbs.map((verb) => `s3:${verb}`), resources: [bucket.arnForObjects('tenants/*')] },
]

export const sendAccess = ({ queues }: DataStack, names: readonly QueueName[]): Access => ({
  actions: ['sqs:SendMessage'],
  resources: names.map((name) => queues[name].queue.queueArn),
})

/** What Lambda's poller does in the function's name. */
export const consumeAccess = (queues: readonly IQueue[]): Access => ({
  actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'],
  resources: queues.map(({ queueArn }) => queueArn),
})

/** The key opens rows, objects and secrets only for these services on our behalf: nobody decrypts with it directly. */
export const keyAccess = ({ key, region }: DataStack, services: readonly ('dynamodb' | 's3' | 'secretsmanager')[]): Access => ({
  actions: ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'GenerateDataKeyWithoutPlaintext', 'ReEncryptFrom', 'ReEncryptTo'].map(
    (verb) => `kms:${verb}`,
  ),
  resources: [key.keyArn],
  conditions: { StringEquals: { 'kms:ViaService': services.map((service) => `${service}.${region}.amazonaws.com`) } },
})
