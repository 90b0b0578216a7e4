import { singleImage, type ImageCatalogue } from '../../services/model/containers/images.ts'
import OpenAI from 'openai'
import { createApp } from '../../services/entries/api/app.ts'
import { ApiConfig } from '../../services/http/config.ts'
import type { ApiDeps, ApiPorts, Readiness } from '../../services/http/deps.ts'
import type { AnyRoute } from '../../services/http/route.ts'
import type { PagePorts } from '../../services/http/page-ports.ts'
import { apiKeyRow, newApiKey, type NewApiKey } from '../../services/model/tenants/api-keys.ts'
import { newId } from '../../services/model/ids.ts'
import type { RecordingGateway } from './recording-gateway.ts'
import type { ObjectStore } from '../../services/ports/object-store.ts'
import type { Table } from '../../services/ports/table.ts'
import { systemClock } from '../../services/ports/clock.ts'
import type { Supervisor } from '../../services/ports/supervisor.ts'
import type { WideEvent } from '../../services/model/wide-event.ts'
import { listen } from '../../services/entries/local/http-server.ts'
import { openPorts } from '../../services/entries/local/ports.ts'
import { WebSockets } from '../../services/entries/local/web-sockets.ts'
import { DRIVERS } from '../../services/adapters/drivers/registry.ts'
import { createLocalSignals } from '../../services/adapters/storage/signals/local-signals.ts'
import { startStorage } from './start-storage.ts'

export interface TestKey {
  readonly tenant: string
  readonly keyId: string
  readonly key: string
}

export interface TestApi extends Pick<ApiDeps, 'table' | 'queue' | 'objects' | 'signals' | 'prices'> {
  readonly url: string
  /** Milliseconds by which the API's clock is ahead. */
  skew: number
  now(): number
  /** The keys of two tenants. */
  readonly owner: TestKey
  readonly otherTenant: TestKey
  /** Every wide event so far. */
  readonly events: readonly WideEvent[]
  newKey(options?: Partial<NewApiKey>): Promise<TestKey>
  /** WebSocket connections of the server. */
  openSockets(): number
  setReadiness(readiness: Readiness): void
  openai(key?: TestKey): OpenAI
  fetch(path: string, init?: RequestInit & { readonly key?: TestKey | null }): Promise<Response>
  post(path: string, body: unknown, init?: { readonly key?: TestKey; readonly headers?: Record<string, string> }): Promise<Response>
  stop(): Promise<void>
}

/** The API over real HTTP, on the embedded storage and without workers: a test moves rows through the table, as a worker would. */
export async function startApi(
  options: {
    readonly config?: Partial<ApiConfig>
    readonly page?: PagePorts
    readonly network?: RecordingGateway
    readonly toolTypes?: readonly (readonly string[])[]
    readonly images?: ImageCatalogue
    readonly models?: readonly string[]
    readonly canSuspend?: boolean
    /** Connects to programs of sandboxes; the server then serves their ports below `localhost`. */
    readonly connectPort?: Supervisor['connectPort']
    readonly listPorts?: Supervisor['listPorts']
    readonly portIdleMs?: number
    /** Other routes than the product's. */
    readonly routes?: readonly AnyRoute[]
    /** False: as in a deployment, no connection becomes a WebSocket. */
    readonly hasWebSockets?: boolean
    /** Connections of one address without a key. */
    readonly maxKeyless?: number
    /** Connections of one tenant. */
    readonly maxOfTenant?: number
    /** Requests of one tenant whose client has left. */
    readonly maxAbandoned?: number
    readonly wrapObjects?: (objects: ObjectStore) => ObjectStore
    readonly wrapTable?: (table: Table) => Table
  } = {},
): Promise<TestApi> {
  const storage = await startStorage()
  const { queue } = storage
  const wrap = options.wrapTable ?? ((inner: Table) => inner)
  // The table that the API uses, which counts what it stores. Its methods are own properties, so a test can replace one.
  let apiTable: Table = wrap(storage.table)
  const table: Table = Object.assign(Object.create(apiTable) as Table, {
    metered: (meter: Parameters<Table['metered']>[0]) => (apiTable = wrap(storage.table.metered(meter))),
  })
  const objects = options.wrapObjects?.(storage.objects) ?? storage.objects
  const signals = createLocalSignals()
  const events: WideEvent[] = []
  const time = { skew: 0 }
  let readiness: Readiness = { ok: true, parts: { table: { ok: true } } }
  const models = (options.models ?? ['demo']).map((id) => ({ id, createdAt: 1_700_000_000_000, ownedBy: 'cellblock', readsImages: false }))
  const webSockets = options.hasWebSockets === false ? null : new WebSockets(options.config?.stallMs)
  const { prices } = DRIVERS.fargate
  const clock = { now: () => systemClock.now() + time.skew }
  const ports: ApiPorts = {
    ...(webSockets === null ? {} : { sockets: webSockets.admissions }),
    table,
    queue,
    objects,
    signals,
    clock,
    telemetry: { emit: (event) => void events.push(event) },
    images: options.images ?? singleImage('cellblock-sandbox:test'),
    canSuspend: options.canSuspend ?? false,
    models: { list: () => models, has: (id) => models.some((model) => model.id === id) },
    toolTypes: options.toolTypes ?? [],
    prices,
    readiness: async () => readiness,
    config: ApiConfig.parse(options.config ?? {}),
    ...(options.page === undefined ? {} : { page: options.page }),
    ...(options.network === undefined ? {} : { network: options.network.portsOf(table, clock) }),
  }
  const { connectPort, portIdleMs: idleMs } = options
  const idle = idleMs === undefined ? {} : { idleMs }
  const { publicUrl, allowedHosts } = ports.config
  const webPorts =
    connectPort === undefined
      ? null
      : openPorts(
          { portsDomain: 'localhost', publicUrl, allowedHosts: allowedHosts ?? [], hibernateAfterMs: 300_000 },
          {
            common: ports,
            sandboxes: { supervisor: { connectPort, listPorts: options.listPorts ?? (async () => []) }, driver: {}, prices },
            api: ports.config,
            ...idle,
          },
        )
  const app = createApp({ ...ports, ...(webPorts !== null && { webPorts: webPorts.webPorts }) }, options.routes)
  const server = await listen({
    app,
    objectHandler: storage.objectHandler,
    webSockets,
    ports: webPorts?.proxy ?? null,
    host: '127.0.0.1',
    port: 0,
    ...(options.config?.stallMs !== undefined && { stallMs: options.config.stallMs }),
    ...(options.maxKeyless !== undefined && { maxKeyless: options.maxKeyless }),
    ...(options.maxOfTenant !== undefined && { maxOfTenant: options.maxOfTenant }),
    ...(options.maxAbandoned !== undefined && { maxAbandoned: options.maxAbandoned }),
  })

  const newKey: TestApi['newKey'] = async ({ tenant = newId('tenant'), ...options } = {}) => {
    const key = newApiKey()
    const row = apiKeyRow(key, { tenant, ...options }, Date.now())
    await table.tenants.putKey(row)
    return { tenant, keyId: row.id, key }
  }
  const owner = await newKey()
  const otherTenant = await newKey()
  const call: TestApi['fetch'] = (path, { key = owner, ...init } = {}) => {
    const headers = new Headers(init.headers)
    if (key !== null) headers.set('authorization', `Bearer ${key.key}`)
    return fetch(`${server.url}${path}`, { redirect: 'manual', ...init, headers })
  }
  return {
    get skew() {
      return time.skew
    },
    set skew(ms) {
      time.skew = ms
    },
    now: () => systemClock.now() + time.skew,
    table: apiTable,
    queue,
    objects,
    signals,
    prices,
    events,
    owner,
    otherTenant,
    newKey,
    url: server.url,
    openSockets: () => webSockets?.admissions.open ?? 0,
    setReadiness: (next) => void (readiness = next),
    openai: (key = owner) => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: key.key, maxRetries: 0 }),
    fetch: call,
    post: (path, body, { key = owner, headers = {} } = {}) =>
      call(path, {
        method: 'POST',
        key,
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async stop() {
      await server.stop()
      await storage.stop()
    },
  }
}
