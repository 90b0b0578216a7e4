import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { S3Client } from '@aws-sdk/client-s3'
import type { SQSClient } from '@aws-sdk/client-sqs'
import type { ClientOptions } from './client-options.ts'
import { createDynamoClient } from './dynamodb/dynamo-client.ts'
import { createS3Client } from './s3/s3-client.ts'
import { createSqsClient } from './sqs/sqs-client.ts'

export interface StorageEndpoints {
  readonly dynamodb: string
  readonly sqs: string
  readonly s3: string
}

export interface StorageClients {
  readonly dynamodb: DynamoDBClient
  readonly sqs: SQSClient
  readonly s3: S3Client
  close(): void
}

/** The clients of all storage. `endpoints` are those of an emulator unless `isEmulated` is false. */
export function createStorageClients({
  endpoints,
  isEmulated = endpoints !== undefined,
  ...options
}: Omit<ClientOptions, 'endpoint'> & { readonly endpoints?: StorageEndpoints } = {}): StorageClients {
  const optionsOf = (service: keyof StorageEndpoints): ClientOptions => ({
    ...options,
    isEmulated,
    ...(endpoints === undefined ? {} : { endpoint: endpoints[service] }),
  })
  const dynamodb = createDynamoClient(optionsOf('dynamodb'))
  const sqs = createSqsClient(optionsOf('sqs'))
  const s3 = createS3Client(optionsOf('s3'))
  return {
    dynamodb,
    sqs,
    s3,
    close: () => {
      for (const client of [dynamodb, sqs, s3]) client.destroy()
    },
  }
}
