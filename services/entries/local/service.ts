import pLimit from 'p-limit'
import { describeCause } from '../../model/describe-cause.ts'
import { createAdministration } from '../api/administration.ts'
import { createApp } from '../api/app.ts'
import { ApiConfig } from '../../http/config.ts'
import type { ApiDeps } from '../../http/deps.ts'
import { readinessOf } from '../api/readiness.ts'
import { chatConfigFromEnv } from '../../adapters/models/config.ts'
import { createModelCatalogue } from '../../adapters/models/catalogue.ts'
import { toolConfigFromEnv } from '../../adapters/tools/config.ts'
import { createTools, typesOf } from '../../adapters/tools/create-tools.ts'
import { createTurnStep } from '../../workers/turn/turn-step.ts'
import type { NetworkPorts } from '../../ports/network-gateway.ts'
import type { Admission } from '../../ports/admission.ts'
import { systemClock } from '../../ports/clock.ts'
import { ensureAdminKey, ensureDevTenant } from '../../operations/tenancy/first-keys.ts'
import { DeliveryLanes } from '../../workers/deliver/delivery-lanes.ts'
import { createDeliveryStep } from '../../workers/deliver/delivery-step.ts'
import type { ReconcilerDeps } from '../../workers/deps.ts'
import { createPlaceStep } from '../../workers/place/place-step.ts'
import type { Pool } from '../../workers/place/pool.ts'
import { createRunStep } from '../../workers/run/step/run-step.ts'
import { ConfigError, isKept, type LocalConfig } from './config.ts'
import { openControlSocket } from './control-socket.ts'
import { listen } from './http-server.ts'
import { startGateway } from './network.ts'
import { openLocalPage } from './page.ts'
import { openPorts, portOrigins } from './ports.ts'
import { stopSandboxes, type LocalSandboxes } from './sandboxes.ts'
import type { LocalStorage } from './storage/local-storage.ts'
import { createMetricsHandler } from './telemetry/metrics-handler.ts'
import type { LocalTelemetry } from './telemetry/open-telemetry.ts'
import { WebSockets } from './web-sockets.ts'
import { startWorkers, turnsStep } from './workers.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { HibernateMessage } from '../../model/messages.ts'
import type { Table } from '../../ports/table.ts'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const FOLDER = join(dirname(dirname(dirname(import.meta.dirname))), '.cellblock', 'servers')

/** Tells the command line how to reach this server: `.cellblock/servers/<port>.json`, while the server runs. */
async function announceServer(server: {
  readonly url: string
  readonly controlSocket: string
  readonly dataDir: string | null
}): Promise<{ remove(): Promise<void> }> {
  const file = join(FOLDER, `${new URL(server.url).port}.json`)
  await mkdir(FOLDER, { recursive: true })
  await writeFile(file, JSON.stringify({ pid: process.pid, ...server }, null, 2), { mode: 0o600 })
  return { remove: () => rm(file, { force: true }) }
}

/** Maximum wait of a stop for running steps, milliseconds. */
const SHUTDOWN_TIMEOUT_MS = 2_000

export interface Service {
  readonly url: string
  readonly apiKey: string
  /** The key that administers tenants, when this start created it or the configuration names it; null when one exists. */
  readonly adminKey: string | null
  /** Opens the playground signed in, once; null when the playground was not built. */
  readonly signInUrl: string | null
  /** Names of the language models. */
  readonly models: readonly string[]
}

/** Ends the parts that were started, in reverse order. */
export type Cleanups = (() => Promise<unknown> | void)[]

/** What the warm pool and the service have in common. */
export interface SharedParts {
  readonly common: Pick<ApiDeps, 'table' | 'queue' | 'objects' | 'signals' | 'clock' | 'telemetry'>
  readonly admission: Admission
  readonly placing: ReconcilerDeps
}

interface ServiceParts extends SharedParts {
  readonly config: LocalConfig
  readonly sandboxes: LocalSandboxes
  readonly storage: LocalStorage
  readonly pool: Pool
  readonly telemetry: LocalTelemetry
}

/** Throws ConfigError, so that the start prints the sentence alone. */
function modelConfig(): ReturnType<typeof chatConfigFromEnv> {
  try {
    return chatConfigFromEnv()
  } catch (cause) {
    throw new ConfigError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/** Starts the workers, then the API. */
export async function openService(parts: ServiceParts, cleanups: Cleanups): Promise<Service> {
  const { config, common, storage, sandboxes, telemetry } = parts
  const { table, queue, objects } = storage
  const models = createModelCatalogue(modelConfig())
  const tools = await createTools(toolConfigFromEnv())
  const network = await startGateway(config, { ...common, supervisor: sandboxes.supervisor }, cleanups)
  startWork(parts, { models, tools, network }, cleanups)
  const apiKey = await ensureDevTenant(table.tenants, config.apiKey, systemClock.now())
  const adminKey = await ensureAdminKey(table.tenants, config.adminKey, systemClock.now())
  const page = await openLocalPage({
    folder: config.playgroundDir,
    guideFolder: config.guideDir,
    dataDir: config.dataDir,
    apiKey,
    frameOrigins: portOrigins(config),
  })
  const webSockets = new WebSockets(config.stallMs)
  const api = apiConfigOf(config, sandboxes)
  const ports = openPorts(config, { common, sandboxes, api })
  const app = createApp({
    ...common,
    ...(network !== undefined && { network }),
    sockets: webSockets.admissions,
    ...(ports !== null && { webPorts: ports.webPorts }),
    page: page.ports,
    models,
    toolTypes: typesOf(tools),
    images: sandboxes.driver.images,
    canSuspend: sandboxes.driver.suspension !== undefined,
    prices: sandboxes.prices,
    readiness: readinessOf({
      table: () => table.check(),
      queue: () => queue.check(),
      store: () => objects.check(),
      driver: () => sandboxes.driver.check(),
    }),
    config: api,
  })
  const metricsHandler = createMetricsHandler(telemetry.metrics, config.metricsKey)
  const { objectHandler } = storage
  const { host, port, stallMs, maxKeyless } = config
  const server = await listen({
    ...{ app, objectHandler, metricsHandler, webSockets, ports: ports?.proxy ?? null },
    ...{ host, port, stallMs, maxKeyless },
  })
  cleanups.push(() => server.stop())
  const control = await openControlSocket({
    administer: administration({ ...common, images: sandboxes.driver.images, prices: sandboxes.prices }),
    backUp: storage.backUp,
  })
  cleanups.push(() => control.close())
  const announced = await announceServer({ url: server.url, controlSocket: control.path, dataDir: config.dataDir })
  cleanups.push(() => announced.remove())
  return { url: server.url, apiKey, adminKey, signInUrl: page.signInUrl(server.url), models: models.list().map(({ id }) => id) }
}

/** The application is created with the first request: most servers get none. */
function administration(ports: SharedParts['common'] & Pick<ApiDeps, 'images' | 'prices'>): (request: Request) => Promise<Response> {
  let administer: ReturnType<typeof createAdministration> | null = null
  return (request) => (administer ??= createAdministration(ports))(request)
}

const apiConfigOf = (config: LocalConfig, { memoryTiers }: LocalSandboxes): ApiConfig =>
  ApiConfig.parse({
    publicUrl: config.publicUrl,
    allowedHosts: config.allowedHosts,
    wireSettings: config.wireSettings,
    maxOpenStreams: config.maxOpenStreams,
    maxRequestBytesInFlight: config.requestBytes,
    maxResultBytesInFlight: config.answerBytes,
    stallMs: config.stallMs,
    corsOrigins: config.corsOrigins,
    tokenIssuers: config.tokenIssuers,
    linksRequireKey: config.linksRequireKey,
    webhookHosts: config.webhookHosts,
    memoryTiers,
  })

interface StepParts {
  readonly models: ReturnType<typeof createModelCatalogue>
  readonly tools: Awaited<ReturnType<typeof createTools>>
  readonly network: NetworkPorts | undefined
}

function startWork(
  { config, common, storage, sandboxes, admission, placing, pool }: ServiceParts,
  { network, ...turnParts }: StepParts,
  cleanups: Cleanups,
): void {
  const { driver, supervisor, prices } = sandboxes
  const { workerId, costPerSecond } = placing
  const runStep = createRunStep({
    ...common,
    ...(network !== undefined && { network }),
    supervisor,
    admission,
    workerId,
    images: driver.images,
    canSuspend: driver.suspension !== undefined,
    stepBudgetMs: config.stepBudgetMs,
    costPerSecond,
  })
  const deliveries = new DeliveryLanes({
    deliver: createDeliveryStep({ ...common, workerId, webhookHosts: config.webhookHosts }),
    onError: (error) => common.telemetry.emit({ event: 'webhook', outcome: 'error', detail: describeCause(error) }),
  })
  const workers = startWorkers({
    consumer: storage.consumer,
    telemetry: common.telemetry,
    reconciler: placing,
    steps: {
      turns: turnsStep(createTurnStep({ ...common, ...turnParts, prices, workerId }), deliveries),
      executions: runStep,
      placements: createPlaceStep(placing, pool),
    },
  })
  // In reverse order: short steps end, variables are saved if the storage outlives the server, sandboxes stop, then the steps of code in them end.
  cleanups.push(() => Promise.race([deliveries.stop(), delay(SHUTDOWN_TIMEOUT_MS, undefined, { ref: false })]))
  cleanups.push(() => workers.stop(SHUTDOWN_TIMEOUT_MS))
  cleanups.push(() => stopSandboxes(driver, { keepsSuspended: isKept(config) }))
  cleanups.push(() => saveAll({ table: common.table, hibernate: runStep }, isKept(config) ? config.saveMs : 0))
  cleanups.push(() => workers.stop(SHUTDOWN_TIMEOUT_MS))
  cleanups.push(() => void pool.close())
}

const AT_ONCE = 4

/**
 * Hibernates every idle container, so that its variables outlive its sandbox. Resolves when all are saved or the time is over. Variables that
 * are not saved by then are lost with the sandbox, and the next execution reports it. Containers with a running execution are skipped.
 */
async function saveAll(
  deps: { readonly table: Pick<Table, 'sandboxes' | 'containers'>; readonly hibernate: (message: HibernateMessage) => Promise<void> },
  limitMs: number,
): Promise<void> {
  if (limitMs === 0) return
  const slots = pLimit(AT_ONCE)
  const over = new AbortController()
  const saveOne = async (tenant: string, containerId: string, sandboxId: string): Promise<void> => {
    if (over.signal.aborted) return
    const container = await deps.table.containers.get(tenant, containerId)
    if (container?.sandboxId !== sandboxId || container.queue.length > 0) return
    // With the sandbox: it ends with the server, so its processes are not kept.
    await deps.hibernate({ v: 1, type: 'container.hibernate', tenant, containerId, idleSince: container.lastActiveAt, sandboxId })
  }
  const all = deps.table.sandboxes
    .all()
    .then((sandboxes) =>
      Promise.allSettled(
        sandboxes.map(({ id, claimedBy }) =>
          claimedBy === null ? null : slots(() => saveOne(claimedBy.tenant, claimedBy.containerId, id)),
        ),
      ),
    )
  await Promise.race([all.catch(() => undefined), delay(limitMs, undefined, { signal: over.signal }).catch(() => undefined)])
  over.abort()
}
