import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { S3Client } from '@aws-sdk/client-s3'
import { SQSClient } from '@aws-sdk/client-sqs'
import { Agent } from 'node:http'
import { createRetries } from './retries.ts'

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

/** Omits the hash of the body from the signature: TLS, or the machine itself, protects the bytes, and hashing 100 MB takes longer than sending it. */
function leaveBodiesUnsigned(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => (args) => {
      const isUpload = context['commandName'] === 'PutObjectCommand' || context['commandName'] === 'UploadPartCommand'
      if (isUpload) (args.request as { headers: Record<string, string> }).headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD'
      return next(args)
    },
    { step: 'build', name: 'leaveBodiesUnsigned' },
  )
}

/** The SDK's clients. Options that are not set come from the SDK's default chain (`AWS_REGION`, `AWS_ENDPOINT_URL_*` …). */
export function createStorageClients(
  options: {
    readonly region?: string
    readonly endpoints?: StorageEndpoints
    readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
    /** Whether the endpoints belong to an emulator: it has no subdomain for each bucket, and its queue URLs may name another host. */
    readonly isEmulated?: boolean
  } = {},
): StorageClients {
  const { region, endpoints, credentials, isEmulated = endpoints !== undefined } = options
  const common = {
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials }),
    ...(isEmulated ? { requestHandler: { httpAgent: new Agent({ keepAlive: true, maxSockets: 512 }) } } : {}),
  }
  const endpoint = (service: keyof StorageEndpoints) => (endpoints === undefined ? {} : { endpoint: endpoints[service] })
  // Every execution uses the table and the queues: their handlers are built once.
  const dynamodb = new DynamoDBClient({ ...common, ...endpoint('dynamodb'), cacheMiddleware: true, retryStrategy: createRetries() })
  const sqs = new SQSClient({
    ...common,
    ...endpoint('sqs'),
    cacheMiddleware: true,
    retryStrategy: createRetries(),
    md5: false,
    ...(isEmulated ? { useQueueUrlAsEndpoint: false } : {}),
  })
  const s3 = new S3Client({
    ...common,
    ...endpoint('s3'),
    retryStrategy: createRetries(),
    forcePathStyle: isEmulated,
    // Presigned links go to plain HTTP clients, which send no checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  for (const client of [dynamodb, sqs])
    for (const name of ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware']) client.middlewareStack.remove(name)
  leaveBodiesUnsigned(s3)

  return {
    dynamodb,
    sqs,
    s3,
    close: () => {
      for (const client of [dynamodb, sqs, s3]) client.destroy()
    },
  }
}
