import { tmpdir } from 'node:os'
import { createApp } from '../api/app.ts'
import { ApiConfig } from '../api/config.ts'
import type { ApiDeps } from '../api/deps.ts'
import { checkParts } from '../api/readiness.ts'
import { createModelCatalogue } from '../chat/models/catalogue.ts'
import { chatConfigFromEnv } from '../chat/config.ts'
import { toolConfigFromEnv } from '../chat/tools/config.ts'
import { createTools, typesOf } from '../chat/tools/create-tools.ts'
import { createTurnStep } from '../chat/turn-step.ts'
import { newId } from '../core/ids.ts'
import type { Admission } from '../core/ports/admission.ts'
import { systemClock } from '../core/ports/clock.ts'
import type { Telemetry } from '../core/ports/telemetry.ts'
import type { ReconcilerDeps } from '../orchestrator/deps.ts'
import { createPlaceStep } from '../orchestrator/place/place-step.ts'
import { createPool } from '../orchestrator/place/pool.ts'
import { createDeliveryStep } from '../jobs/webhooks/delivery-step.ts'
import { createRunStep } from '../orchestrator/run/run-step.ts'
import { createLocalSignals } from '../storage/signals/local-signals.ts'
import { buildGuide } from './background-guide.ts'
import { switchToBuiltImage } from './background-image.ts'
import { stageOf, type LocalConfig } from './config.ts'
import { openControlSocket } from './control-socket.ts'
import { checkDataFolder } from './data-folder.ts'
import { ensureAdminKey, ensureDevTenant } from '../core/tenants/first-keys.ts'
import { HostAdmission, readHostCapacity } from './host-admission.ts'
import { listen } from './http-server.ts'
import { lockDataDir } from './lock-data-dir.ts'
import { lockTable } from './lock-table.ts'
import { openLocalPage } from './page.ts'
import { openSandboxes, stopSandboxes, type LocalSandboxes } from './sandboxes.ts'
import { saveAll } from './save-all.ts'
import { announceServer } from './server-file.ts'
import type { LocalStorage } from './storage/local-storage.ts'
import { openLocalStorage } from './storage/open-local-storage.ts'
import { takeOverJobs } from './take-over-jobs.ts'
import { addProbes } from './telemetry/add-probes.ts'
import { createMetricsHandler } from './telemetry/metrics-handler.ts'
import { openTelemetry } from './telemetry/open-telemetry.ts'
import { WebSockets } from './web-sockets.ts'
import { startWorkers, turnsStep } from './workers.ts'

/** Maximum wait of a stop for running steps, milliseconds. */
const SHUTDOWN_TIMEOUT_MS = 2_000

export interface LocalServer {
  readonly url: string
  readonly apiKey: string
  /** The key that administers tenants, when this start created it or the configuration names it; null when one exists. */
  readonly adminKey: string | null
  /** Opens the playground signed in, once; null when the playground was not built. */
  readonly signInUrl: string | null
  /** Resolves when the pool has been filled for the first time. */
  readonly warm: Promise<void>
  /** Ends everything that was started: requests, workers, sandboxes, storage. */
  stop(): Promise<void>
}

/** Collects the parts that a stop ends, in reverse order of their start. */
type Cleanups = (() => Promise<unknown> | void)[]

/** The whole service in one process: storage, every worker, the API, and Docker sandboxes. */
export async function startLocalServer(config: LocalConfig): Promise<LocalServer> {
  const cleanups: Cleanups = []
  // A part that fails to end does not keep the others, such as the sandboxes.
  const stop = async (): Promise<void> => {
    const failures: unknown[] = []
    for (const cleanup of cleanups.splice(0).toReversed())
      try {
        await cleanup()
      } catch (error) {
        failures.push(error)
      }
    if (failures.length > 0) throw failures[0]
  }
  try {
    return { ...(await start(config, cleanups)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(config: LocalConfig, cleanups: Cleanups): Promise<Omit<LocalServer, 'stop'>> {
  const telemetry = await openTelemetry(config)
  cleanups.push(() => telemetry.close())
  const storage = await openStorage(config, telemetry, cleanups)
  const sandboxes = await openSandboxes(config, stageOf(storageName(config)))
  cleanups.push(() => sandboxes.close())
  // The lock of the data folder or of the table proves that every lease holder is dead.
  if (isKept(config)) await takeOverJobs(storage.table, systemClock.now())

  const signals = createLocalSignals()
  const { table, queue, objects } = storage
  const common = { table, queue, objects, signals, clock: systemClock, telemetry }
  const folder = config.dataDir ?? tmpdir()
  addProbes(telemetry.metrics, storage, folder)
  const admission = new HostAdmission({
    capacity: () => readHostCapacity(folder),
    reserveBytes: config.reserveBytes,
    clock: systemClock,
    telemetry,
  })
  const models = createModelCatalogue(chatConfigFromEnv())
  const tools = await createTools(toolConfigFromEnv())
  const pool = startWork({ config, common, storage, sandboxes, admission, models, tools }, cleanups)

  const apiKey = await ensureDevTenant(table.tenants, config.apiKey, systemClock.now())
  const adminKey = await ensureAdminKey(table.tenants, config.adminKey, systemClock.now())
  const page = await openLocalPage({ folder: config.playgroundDir, guideFolder: config.guideDir, dataDir: config.dataDir, apiKey })
  const webSockets = new WebSockets()
  const app = createApp({
    ...common,
    sockets: webSockets.admissions,
    page: page.ports,
    models,
    toolTypes: typesOf(tools),
    images: sandboxes.driver.images,
    readiness: () =>
      checkParts({
        table: () => table.check(),
        queue: () => queue.check(),
        store: () => objects.check(),
        driver: () => sandboxes.driver.check(),
      }),
    config: apiConfigOf(config, sandboxes),
  })
  const metricsHandler = createMetricsHandler(telemetry.metrics, config.metricsKey)
  const { objectHandler } = storage
  const server = await listen({ app, objectHandler, metricsHandler, webSockets, host: config.host, port: config.port })
  cleanups.push(() => server.stop())
  const control = await openControlSocket(storage)
  cleanups.push(() => control.close())
  const announced = await announceServer({ url: server.url, controlSocket: control.path, dataDir: config.dataDir })
  cleanups.push(() => announced.remove())
  cleanups.push(startBuilds(config, sandboxes, pool))
  return { url: server.url, apiKey, adminKey, signInUrl: page.signInUrl(server.url), warm: pool.refill() }
}

const apiConfigOf = (config: LocalConfig, { memoryTiers }: LocalSandboxes): ApiConfig =>
  ApiConfig.parse({
    publicUrl: config.publicUrl,
    allowedHosts: config.allowedHosts,
    e2bDomain: config.e2bDomain,
    maxOpenStreams: config.maxOpenStreams,
    corsOrigins: config.corsOrigins,
    tokenIssuers: config.tokenIssuers,
    linksRequireKey: config.linksRequireKey,
    webhookHosts: config.webhookHosts,
    memoryTiers,
  })

/** Builds what `npm start` found missing while the server works: the image, then the documentation. Returns a function that ends the builds. */
function startBuilds(
  { buildImage, buildsGuide, guideDir }: LocalConfig,
  { driver }: LocalSandboxes,
  pool: ReturnType<typeof createPool>,
): () => void {
  const say = (line: string): void => console.error(line)
  const image = buildImage === null ? null : switchToBuiltImage(buildImage, { images: driver.images, refill: () => pool.refill(), say })
  const guide = buildsGuide && guideDir !== null ? buildGuide(guideDir, { before: image?.ended ?? Promise.resolve(), say }) : null
  return () => {
    guide?.stop()
    image?.stop()
  }
}

/** Whether the storage outlives the server. */
const isKept = ({ storage, dataDir }: LocalConfig): boolean => dataDir !== null || storage.kind === 'aws'

/** The process's handler of uncaught errors prints the message and exits. */
function endProcess(error: Error): void {
  setImmediate(() => {
    throw error
  })
}

const storageName = ({ storage, dataDir }: LocalConfig): string =>
  storage.kind === 'aws' ? `aws:${storage.tableName}` : (dataDir ?? newId('worker'))

async function openStorage(config: LocalConfig, telemetry: Telemetry, cleanups: Cleanups): Promise<LocalStorage> {
  const { dataDir } = config
  const onError = (error: unknown): void => telemetry.emit({ event: 'storage', outcome: 'error', detail: String(error) })
  if (dataDir !== null) {
    const lock = await lockDataDir(dataDir)
    cleanups.push(() => lock.release())
    const note = await checkDataFolder(dataDir)
    if (note !== null) telemetry.emit({ event: 'storage', outcome: 'ok', detail: note })
  }
  const storage = await openLocalStorage(config, onError)
  cleanups.push(() => storage.close())
  if (config.storage.kind === 'aws') {
    const lock = await lockTable({ items: storage.items, tableName: config.storage.tableName, onLost: endProcess, onError })
    cleanups.push(() => lock.release())
  }
  return storage
}

interface Work {
  readonly config: LocalConfig
  readonly common: Pick<ApiDeps, 'table' | 'queue' | 'objects' | 'signals' | 'clock' | 'telemetry'>
  readonly storage: LocalStorage
  readonly sandboxes: LocalSandboxes
  readonly admission: Admission
  readonly models: ReturnType<typeof createModelCatalogue>
  readonly tools: Awaited<ReturnType<typeof createTools>>
}

/** Starts the workers and the warm pool. */
function startWork(
  { config, common, storage, sandboxes, admission, models, tools }: Work,
  cleanups: Cleanups,
): ReturnType<typeof createPool> {
  const { driver, supervisor } = sandboxes
  const workerId = newId('worker')
  const placing: ReconcilerDeps = {
    ...common,
    driver,
    admission,
    poolSizes: { '1g': config.poolSize },
    poolCeilings: { '1g': config.poolCeiling },
    imagePoolSizes: config.imagePools,
    maxStarts: 2,
    workerId,
    hibernateAfterMs: config.hibernateAfterMs,
  }
  const pool = createPool(placing)
  const runStep = createRunStep({
    ...common,
    supervisor,
    admission,
    workerId,
    images: driver.images,
    stepBudgetMs: config.stepBudgetMs,
    costPerSecond: () => 0,
  })
  const workers = startWorkers({
    consumer: storage.consumer,
    telemetry: common.telemetry,
    reconciler: placing,
    steps: {
      turns: turnsStep(
        createTurnStep({ ...common, models, tools, workerId }),
        createDeliveryStep({ ...common, workerId, webhookHosts: config.webhookHosts }),
      ),
      executions: runStep,
      placements: createPlaceStep(placing, pool),
    },
  })
  // In reverse order: short steps end, variables are saved if the storage outlives the server, sandboxes stop, then the steps of code in them end.
  cleanups.push(() => workers.stop(SHUTDOWN_TIMEOUT_MS))
  cleanups.push(() => stopSandboxes(driver))
  cleanups.push(() => saveAll({ table: common.table, hibernate: runStep }, isKept(config) ? config.saveMs : 0))
  cleanups.push(() => workers.stop(SHUTDOWN_TIMEOUT_MS))
  cleanups.push(() => pool.close())
  return pool
}
