import Docker from 'dockerode'
import { createApp } from '../api/app.ts'
import { ApiConfig } from '../api/config.ts'
import { checkParts } from '../api/readiness.ts'
import { createModelCatalogue } from '../chat/models/catalogue.ts'
import { chatConfigFromEnv } from '../chat/config.ts'
import { toolConfigFromEnv } from '../chat/tools/config.ts'
import { createTools, typesOf } from '../chat/tools/create-tools.ts'
import { createTurnStep } from '../chat/turn-step.ts'
import { newId } from '../core/ids.ts'
import { systemClock } from '../core/ports/clock.ts'
import type { ReconcilerDeps } from '../orchestrator/deps.ts'
import { createDockerDriver } from '../orchestrator/drivers/docker/docker-driver.ts'
import { tiersOfHost } from '../orchestrator/drivers/docker/limits.ts'
import { createExecRelay } from '../orchestrator/drivers/docker/exec-relay.ts'
import { createLink } from '../orchestrator/link/create-link.ts'
import { createPlaceStep } from '../orchestrator/place/place-step.ts'
import { createPool } from '../orchestrator/place/pool.ts'
import { createRunStep } from '../orchestrator/run/run-step.ts'
import { createSupervisorClient } from '../orchestrator/supervisor-client/supervisor-client.ts'
import { createStorageClients } from '../storage/clients.ts'
import { createDynamoTable } from '../storage/dynamodb/dynamo-table.ts'
import { createS3ObjectStore } from '../storage/s3/s3-object-store.ts'
import { createLocalSignals } from '../storage/signals/local-signals.ts'
import { createSqsConsumer } from '../storage/sqs/sqs-consumer.ts'
import { createSqsQueue } from '../storage/sqs/sqs-queue.ts'
import { stageOf, type LocalConfig } from './config.ts'
import { ensureDevTenant } from './dev-tenant.ts'
import { createLocalResources } from './emulators/create-local-resources.ts'
import { keepExpiring } from './emulators/expire-rows.ts'
import { startEmulators } from './emulators/start-emulators.ts'
import { listen } from './http-server.ts'
import { lockDataDir } from './lock-data-dir.ts'
import { removeOrphanedSandboxes, SERVER_LABEL } from './remove-orphaned-sandboxes.ts'
import { saveAll } from './save-all.ts'
import { announceServer } from './server-file.ts'
import { takeOverJobs } from './take-over-jobs.ts'
import { createLocalTelemetry } from './telemetry.ts'
import { startWorkers } from './workers.ts'

/** How long a stop waits for steps that run, milliseconds. */
const SHUTDOWN_TIMEOUT_MS = 2_000

export interface LocalServer {
  readonly url: string
  readonly apiKey: string
  /** Resolves when the pool has been filled for the first time. */
  readonly warm: Promise<void>
  /** Ends everything that was started: requests, workers, sandboxes, emulators. */
  stop(): Promise<void>
}

/** The whole service in one process: embedded emulators, every worker, the API, and Docker sandboxes. */
export async function startLocalServer(config: LocalConfig): Promise<LocalServer> {
  const cleanups: (() => Promise<unknown> | void)[] = []
  const stop = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  }
  try {
    return { ...(await start(config, cleanups)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(config: LocalConfig, cleanups: (() => Promise<unknown> | void)[]): Promise<Omit<LocalServer, 'stop'>> {
  const telemetry = createLocalTelemetry(config.log)
  if (config.dataDir !== null) {
    const lock = await lockDataDir(config.dataDir)
    cleanups.push(() => lock.release())
  }
  const emulators = await startEmulators({
    dataDir: config.dataDir,
    log: (error) => telemetry.emit({ event: 'emulator', outcome: 'error', detail: String(error) }),
  })
  cleanups.push(() => emulators.stop())
  const clients = createStorageClients({
    region: emulators.region,
    credentials: emulators.credentials,
    endpoints: emulators.endpoints,
  })
  cleanups.push(() => clients.close())
  emulators.connect(clients)
  const resources = await createLocalResources(clients)
  const objects = createS3ObjectStore({ client: clients.s3, bucket: resources.bucket, presign: clients.presign })
  const table = createDynamoTable({ client: clients.dynamodb, tableName: resources.tableName, objects })
  const queue = createSqsQueue({ client: clients.sqs, queueUrls: resources.queueUrls })
  // Without a data folder the table ends with the process.
  if (config.dataDir !== null)
    cleanups.push(
      keepExpiring(clients.dynamodb, resources.tableName, (error) =>
        telemetry.emit({ event: 'expire_rows', outcome: 'error', detail: String(error) }),
      ),
    )
  const signals = createLocalSignals()
  const common = { table, queue, objects, signals, clock: systemClock, telemetry }

  const docker = new Docker()
  const link = createLink({ openRelay: createExecRelay(docker) })
  const supervisor = createSupervisorClient({ link })
  cleanups.push(() => link.close())
  const stage = stageOf(config.dataDir ?? newId('worker'))
  const driver = createDockerDriver({
    docker,
    stage,
    supervisor,
    image: config.sandboxImage,
    runtime: config.dockerRuntime ?? undefined,
    transport: config.transport,
    labels: { [SERVER_LABEL]: String(process.pid) },
    preload: config.preload ?? undefined,
  })
  await driver.check()
  const memoryTiers = tiersOfHost((await docker.info()) as { readonly MemTotal?: number })
  await removeOrphanedSandboxes(docker, stage, systemClock.now())
  if (config.dataDir !== null) await takeOverJobs(table, systemClock.now())

  const workerId = newId('worker')
  const placing: ReconcilerDeps = {
    ...common,
    driver,
    poolSizes: { '1g': config.poolSize },
    poolCeilings: { '1g': config.poolCeiling },
    maxStarts: 2,
    workerId,
    hibernateAfterMs: config.hibernateAfterMs,
  }
  const pool = createPool(placing)
  const models = createModelCatalogue(chatConfigFromEnv())
  const tools = await createTools(toolConfigFromEnv())
  const runStep = createRunStep({
    ...common,
    supervisor,
    workerId,
    image: driver.image,
    stepBudgetMs: config.stepBudgetMs,
    costPerSecond: () => 0,
  })
  const workers = startWorkers({
    consumer: createSqsConsumer({ client: clients.sqs, ...resources }),
    telemetry,
    reconciler: placing,
    steps: {
      turns: createTurnStep({ ...common, models, tools, workerId }),
      executions: runStep,
      placements: createPlaceStep(placing, pool),
    },
  })
  // Last first: short steps end, variables are saved where something is kept, then go the sandboxes, then the steps that followed code in them.
  cleanups.push(() => workers.stop(SHUTDOWN_TIMEOUT_MS))
  cleanups.push(() => stopSandboxes(placing))
  cleanups.push(() => saveAll({ table, hibernate: runStep }, config.dataDir === null ? 0 : config.saveMs))
  cleanups.push(() => workers.stop(SHUTDOWN_TIMEOUT_MS))
  cleanups.push(() => pool.close())

  const apiKey = await ensureDevTenant(table.tenants, config.apiKey, systemClock.now())
  const app = createApp({
    ...common,
    models,
    toolTypes: typesOf(tools),
    readiness: () =>
      checkParts({ table: () => table.check(), queue: () => queue.check(), store: () => objects.check(), driver: () => driver.check() }),
    config: ApiConfig.parse({
      publicUrl: config.publicUrl,
      maxOpenStreams: config.maxOpenStreams,
      corsOrigins: config.corsOrigins,
      memoryTiers,
    }),
  })
  const server = await listen({ app, s3: emulators.s3.handler, host: config.host, port: config.port })
  cleanups.push(() => server.stop())
  const announced = await announceServer({ url: server.url, dynamodbEndpoint: emulators.dynamodb.endpoint, tableName: resources.tableName })
  cleanups.push(() => announced.remove())
  return { url: server.url, apiKey, warm: pool.refill() }
}

/** Everything that the driver started for this server, whatever the rows say. */
async function stopSandboxes({ driver }: ReconcilerDeps): Promise<void> {
  const ids: string[] = []
  for await (const id of driver.list()) ids.push(id)
  await Promise.allSettled(ids.map((id) => driver.stop(id)))
}
