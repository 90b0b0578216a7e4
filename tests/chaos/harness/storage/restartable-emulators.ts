import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import dynalite from 'dynalite'
import { buildApp } from 'fauxqs'
import { createS3Handler } from '../../../emulators/s3/handler.ts'
import { openObjectFolder } from '../../../emulators/s3/bucket-folder.ts'
import type { StorageEndpoints } from '../../../../services/adapters/storage/clients.ts'
import type { History } from '../../history.ts'
import { recordRequests } from './record-requests.ts'

const REGION = 'us-east-1'
const CREDENTIALS = { accessKeyId: 'CHAOS', secretAccessKey: 'chaos-only' }

export interface RestartableEmulators {
  readonly region: string
  readonly credentials: typeof CREDENTIALS
  readonly endpoints: StorageEndpoints
  /** Stops all three emulators during their work and starts them at the same addresses. Messages are lost; rows and objects survive. */
  restart(downMs: number): Promise<void>
  stop(): Promise<void>
}

/** Starts DynamoDB, SQS and S3 emulators at addresses that stay the same across restarts. With `isDurable`, rows are kept in a folder. */
export async function startRestartableEmulators(history: History, options: { readonly isDurable: boolean }): Promise<RestartableEmulators> {
  const root = await mkdtemp(join(tmpdir(), 'cellblock-chaos-'))
  const path = options.isDurable ? { path: join(root, 'table') } : {}
  let ports = { dynamodb: 0, sqs: 0, s3: 0 }
  let stopServices: () => Promise<void> = async () => undefined
  let stopTable: () => Promise<void> = async () => undefined
  let isTableDown = false

  async function start(): Promise<void> {
    const table = refuseWhile(
      recordRequests(dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0, ...path }), history),
      () => isTableDown,
    )
    const folder = await openObjectFolder(join(root, 'objects'))
    const handler: RequestListener = createS3Handler({ folder, credentials: CREDENTIALS, region: REGION })
    const objects = createServer({ requestTimeout: 0 }, handler)
    const queues = buildApp({ logger: false, defaultRegion: REGION })
    const [dynamodb, s3] = await Promise.all([listen(table, ports.dynamodb), listen(objects, ports.s3)])
    const sqs = Number(new URL(await queues.listen({ port: ports.sqs, host: '127.0.0.1' })).port)
    ports = { dynamodb, s3, sqs }
    stopServices = async () => {
      queues.server.closeAllConnections()
      await Promise.all([close(objects), queues.close()])
    }
    stopTable = () => close(table)
  }

  await start()
  const at = (port: number): string => `http://127.0.0.1:${port}`
  return {
    region: REGION,
    credentials: CREDENTIALS,
    endpoints: { dynamodb: at(ports.dynamodb), sqs: at(ports.sqs), s3: at(ports.s3) },
    async restart(downMs) {
      // The emulator ends the process if its database closes while a query reads, so the table refuses requests first.
      isTableDown = true
      await stopServices()
      await new Promise((resolve) => setTimeout(resolve, downMs))
      await stopTable()
      isTableDown = false
      await start()
    },
    async stop() {
      await Promise.all([stopServices(), stopTable()])
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Breaks the connection of every request that arrives while the condition holds. */
function refuseWhile(server: Server, isDown: () => boolean): Server {
  const handlers = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (isDown()) return void request.socket.destroy()
    for (const handle of handlers) handle(request, response)
  })
  return server
}

async function listen(server: Server, port: number): Promise<number> {
  server.keepAliveTimeout = 60_000
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
