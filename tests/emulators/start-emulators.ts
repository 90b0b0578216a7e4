import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import dynalite from 'dynalite'
import { buildApp } from 'fauxqs'
import type { StorageEndpoints } from '../../services/adapters/storage/clients.ts'
import { listenOnLoopback } from './listen.ts'
import type { S3Credentials } from './s3/authenticate.ts'
import { openObjectFolder } from './s3/bucket-folder.ts'
import { createS3Handler } from './s3/handler.ts'

export interface Emulators {
  readonly region: string
  readonly credentials: S3Credentials
  readonly endpoints: StorageEndpoints
  /** The environment in which the SDK finds them. */
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Starts DynamoDB, SQS and S3 emulators on loopback ports, unmodified and in memory. `log` receives faults of the S3 emulator. */
export async function startEmulators(log: (error: unknown) => void): Promise<Emulators> {
  const region = 'us-east-1'
  const credentials: S3Credentials = {
    accessKeyId: `CB${randomBytes(9).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  }
  const root = await mkdtemp(join(tmpdir(), 'cellblock-emulators-'))
  const folder = await openObjectFolder(root)
  const objects = createS3Handler({ folder, credentials, region, onError: log })
  const queues = buildApp({ logger: false, defaultRegion: region })
  const [dynamodb, sqs, s3] = await Promise.all([
    listenOnLoopback(dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })),
    queues.listen({ port: 0, host: '127.0.0.1' }),
    listenOnLoopback(createServer({ requestTimeout: 0 }, objects)),
  ])
  const endpoints = { dynamodb: dynamodb.endpoint, sqs, s3: s3.endpoint }
  return {
    region,
    credentials,
    endpoints,
    env: {
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
      AWS_ENDPOINT_URL_SQS: endpoints.sqs,
      AWS_ENDPOINT_URL_S3: endpoints.s3,
    },
    async stop() {
      queues.server.closeAllConnections()
      await Promise.all([dynamodb.stop(), queues.close(), s3.stop()])
      await rm(root, { recursive: true, force: true })
    },
  }
}
