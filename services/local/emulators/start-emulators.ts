import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LOCAL_S3_PATH, type StorageClients, type StorageEndpoints } from '../../storage/clients.ts'
import type { S3Credentials } from '../s3/authenticate.ts'
import { createS3Handler, createS3Service, type HttpHandler } from '../s3/handler.ts'
import { createS3InProcess } from '../s3/in-process.ts'
import { openObjectFolder } from '../s3/object-folder.ts'
import { startDynamoDb } from './dynamodb.ts'
import { connectInProcess } from './in-process.ts'
import { listenOnLoopback } from './listen.ts'
import { startSqs } from './sqs.ts'

export interface Emulators {
  readonly region: string
  /** Made anew at every start: whoever has them can sign for every object. */
  readonly credentials: S3Credentials
  readonly endpoints: StorageEndpoints
  /** From now on these clients reach table, queues and objects without their ports. */
  connect(clients: Pick<StorageClients, 'dynamodb' | 'sqs' | 's3'>): void
  readonly dynamodb: { readonly endpoint: string }
  readonly sqs: { readonly endpoint: string }
  /** `handler` serves presigned links below LOCAL_S3_PATH of the API's own port; the endpoint is for this process. */
  readonly s3: { readonly endpoint: string; readonly handler: HttpHandler }
  stop(): Promise<void>
}

/**
 * DynamoDB, SQS and S3 in this process, on loopback ports that the system chooses. With `dataDir` rows and objects outlive the process, a kill
 * included; without it they are gone after `stop`. Messages are never kept. `log` hears of faults of the object store.
 */
export async function startEmulators(options: {
  readonly dataDir: string | null
  readonly log: (error: unknown) => void
}): Promise<Emulators> {
  const region = 'us-east-1'
  const credentials: S3Credentials = {
    accessKeyId: `CB${randomBytes(9).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  }
  const root = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'cellblock-data-')))
  await mkdir(root, { recursive: true, mode: 0o700 })
  const folder = await openObjectFolder(join(root, 'objects'))
  const s3Options = { folder, credentials, region, onError: options.log }
  const handlerAt = (prefix: string): HttpHandler => createS3Handler({ ...s3Options, prefix })
  const s3InProcess = createS3InProcess(createS3Service({ ...s3Options, prefix: '' }))
  const [dynamodb, sqs, s3] = await Promise.all([
    startDynamoDb(options.dataDir === null ? null : join(root, 'table')),
    startSqs(region),
    listenOnLoopback(createServer({ requestTimeout: 0 }, handlerAt(''))),
  ])

  return {
    region,
    credentials,
    endpoints: { dynamodb: dynamodb.endpoint, sqs: sqs.endpoint, s3: s3.endpoint },
    connect(clients) {
      connectInProcess(clients.dynamodb, dynamodb.serve, dynamodb.operations)
      connectInProcess(clients.sqs, sqs.serve)
      s3InProcess.connect(clients.s3)
    },
    dynamodb: { endpoint: dynamodb.endpoint },
    sqs: { endpoint: sqs.endpoint },
    s3: { endpoint: s3.endpoint, handler: handlerAt(LOCAL_S3_PATH) },
    async stop() {
      await Promise.all([s3InProcess.close(), dynamodb.stop(), sqs.stop(), s3.stop()])
      if (options.dataDir === null) await rm(root, { recursive: true, force: true })
    },
  }
}
