import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { SERVER_ENVIRONMENT, serverNodeFlags } from '../../../scripts/commands.ts'
import { NO_OBJECTS } from '../../../scripts/cli/rows-only.ts'
import { newId } from '../../../services/model/ids.ts'
import { apiKeyRow, newApiKey } from '../../../services/model/tenants/api-keys.ts'
import type { TenantPolicy } from '../../../services/model/tenants/tenant.ts'
import { createTable } from '../../../services/adapters/storage/rows/table.ts'
import { createApiClient, type ApiClient } from './api-client.ts'
import { createSleepWatch, type SleepWatch } from './wait-until-hibernated.ts'
import { openServerTable } from './server-table.ts'
import { createWarmPool, type WarmPool } from './warm-pool.ts'

const MAIN = join(import.meta.dirname, 'server-main.ts')
const READY = /ready at (http:\/\/\S+)/

/** The name of the scripted model on the server. */
export const SCRIPTED_MODEL = 'scripted'

/** The service under test: a separate process on a free port, as `npm start` runs it. */
export interface BenchServer {
  readonly api: ApiClient
  readonly url: string
  readonly apiKey: string
  readonly pid: number
  readonly pool: WarmPool
  readonly sleep: SleepWatch
  /** Creates another tenant and returns a client with its key. */
  addTenant(name: string, policy?: TenantPolicy): Promise<ApiClient>
  stop(): Promise<void>
}

export async function startServer(options: {
  readonly image: string
  readonly poolSize: number
  readonly modelUrl?: string
  /** An idle container hibernates after this time; the product's default when absent. */
  readonly idleSeconds?: number
  /** The engine's runtime for sandboxes. */
  readonly runtime?: string
  /** Keeps rows and objects in this folder; a temporary one without durability when absent. */
  readonly dataDir?: string
}): Promise<BenchServer> {
  const apiKey = `ck_${randomBytes(32).toString('base64url')}`
  const data = options.dataDir === undefined ? [] : ['--data', options.dataDir]
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...serverNodeFlags(process.env), MAIN, ...data], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      ...process.env,
      ...SERVER_ENVIRONMENT,
      PORT: '0',
      CELLBLOCK_API_KEY: apiKey,
      CELLBLOCK_POOL: String(options.poolSize),
      CELLBLOCK_SANDBOX_IMAGE: options.image,
      ...(options.runtime === undefined ? {} : { SANDBOX_DOCKER_RUNTIME: options.runtime }),
      ...(options.idleSeconds === undefined ? {} : { CELLBLOCK_IDLE_SECONDS: String(options.idleSeconds) }),
      CELLBLOCK_MODELS:
        options.modelUrl === undefined ? '' : JSON.stringify([{ name: SCRIPTED_MODEL, base_url: options.modelUrl, api_key: 'none' }]),
    },
  })
  // An interrupted run ends before every benchmark has stopped its server.
  const stopAtExit = (): void => void child.kill('SIGTERM')
  process.once('exit', stopAtExit)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => process.off('exit', stopAtExit))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  try {
    const url = await readyUrl(child)
    const api = createApiClient(url, apiKey)
    const items = openServerTable(child)
    return {
      api,
      url,
      apiKey,
      pid: child.pid ?? 0,
      pool: createWarmPool(items),
      sleep: createSleepWatch(items, apiKey),
      async addTenant(name, policy) {
        const { tenants } = createTable(items, NO_OBJECTS)
        const [tenant, key, now] = [newId('tenant'), newApiKey(), Date.now()]
        await tenants.create({ v: 1, id: tenant, name, createdAt: now, ...(policy && { policy }) })
        await tenants.putKey(apiKeyRow(key, { tenant }, now))
        return createApiClient(url, key)
      },
      stop: async () => {
        await api.close()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function readyUrl(child: ReturnType<typeof spawn>): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const listen = (chunk: Buffer): void => {
      said = `${said}${chunk.toString()}`.slice(-4_000)
      const url = READY.exec(said)?.[1]
      if (url !== undefined) resolve(url)
    }
    child.stdout?.on('data', listen)
    child.stderr?.on('data', listen)
    child.once('exit', (code) => reject(new Error(`The server under test ended with code ${code}: ${said}`)))
  })
}
