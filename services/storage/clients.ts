import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
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
  /** The client that signs links for somebody who reached the API by `publicUrl`. */
  readonly presign: (publicUrl: string) => S3Client
  close(): void
}

/** Where the API's own port serves S3 links when the objects are local. */
export const LOCAL_S3_PATH = '/s3'
/** Clients of links are kept by the address they are for; the address comes from a request, so their number is bounded. */
const MAX_PRESIGNERS = 32

type UnsignedRequest = { headers: Record<string, string> }
const UNSIGNED = {
  sign: async <Request extends UnsignedRequest>(request: Request): Promise<Request> => {
    request.headers['authorization'] =
      'AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/local/aws4_request, SignedHeaders=host, Signature=none'
    request.headers['x-amz-date'] = '20260101T000000Z'
    return request
  },
}

/** TLS, or the machine itself, already guards the bytes of an object on their way; hashing 100 MB for the signature would take longer than sending it. */
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

/** The SDK's clients, made in one place. Without `endpoints` and `credentials` they are AWS's own. */
export function createStorageClients(options: {
  readonly region: string
  readonly endpoints?: StorageEndpoints
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
}): StorageClients {
  const { region, endpoints } = options
  const credentials = options.credentials === undefined ? {} : { credentials: options.credentials }
  const common = {
    region,
    ...credentials,
    ...(endpoints === undefined ? {} : { requestHandler: { httpAgent: new Agent({ keepAlive: true, maxSockets: 512 }) } }),
  }
  // Table and queues are on the way of every execution: their handlers are built once, and the emulators, which check no signature, get none.
  const quick = { ...common, cacheMiddleware: true, ...(endpoints === undefined ? {} : { signer: UNSIGNED }) }
  const s3Options: S3ClientConfig = {
    ...common,
    forcePathStyle: endpoints !== undefined,
    // Signed links go to plain HTTP clients, which send no checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  }
  const dynamodb = new DynamoDBClient({
    ...quick,
    retryStrategy: createRetries(),
    ...(endpoints === undefined ? {} : { endpoint: endpoints.dynamodb }),
  })
  const sqs = new SQSClient({
    ...quick,
    retryStrategy: createRetries(),
    md5: false,
    ...(endpoints === undefined ? {} : { endpoint: endpoints.sqs, useQueueUrlAsEndpoint: false }),
  })
  const s3 = new S3Client({ ...s3Options, retryStrategy: createRetries(), ...(endpoints === undefined ? {} : { endpoint: endpoints.s3 }) })
  for (const client of [dynamodb, sqs])
    for (const name of ['loggerMiddleware', 'getUserAgentMiddleware', 'recursionDetectionMiddleware']) client.middlewareStack.remove(name)
  leaveBodiesUnsigned(s3)
  const presigners = new Map<string, S3Client>()

  return {
    dynamodb,
    sqs,
    s3,
    presign: (publicUrl) => {
      if (endpoints === undefined) return s3
      const known = presigners.get(publicUrl)
      if (known !== undefined) return known
      const client = new S3Client({ ...s3Options, endpoint: `${publicUrl}${LOCAL_S3_PATH}` })
      presigners.set(publicUrl, client)
      if (presigners.size > MAX_PRESIGNERS) presigners.delete(presigners.keys().next().value as string)
      return client
    },
    close: () => {
      for (const client of [dynamodb, sqs, s3]) client.destroy()
    },
  }
}
