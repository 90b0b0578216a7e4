import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { singleImage } from '../../../services/model/containers/images.ts'
import { newId } from '../../../services/model/ids.ts'
import { LIMITS, type MemoryTier } from '../../../services/model/limits.ts'
import { countStorage } from '../../../services/operations/tenancy/meter-storage.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import { createRequestLimiter, type RequestLimiter } from '../../../services/operations/tenancy/request-limiter.ts'
import { SharedHolds } from '../../../services/operations/tenancy/shared-holds.ts'
import type { Holds } from '../../../services/operations/tenancy/hold.ts'
import { OPEN_CALLS } from '../../../infra/config.ts'
import { EARLY_SLEEP_SECONDS } from '../../../infra/sandbox-settings.ts'
import { defaultsFor } from '../../../services/model/tenants/tenant-limits.ts'
import type { QueueMessages, QueueName } from '../../../services/model/messages.ts'
import type { ObjectStore } from '../../../services/ports/object-store.ts'
import type { Signals } from '../../../services/ports/signals.ts'
import type { Table } from '../../../services/ports/table.ts'
import type { WideEvent } from '../../../services/model/wide-event.ts'
import type { ReconcilerDeps } from '../../../services/workers/deps.ts'
import { createFargateDriver } from '../../../services/adapters/drivers/fargate/fargate-driver.ts'
import { FARGATE_PROFILE } from '../../../services/adapters/drivers/fargate/profile.ts'
import { readTaskEvent } from '../../../services/adapters/drivers/fargate/task-event.ts'
import { createPlaceStep } from '../../../services/workers/place/place-step.ts'
import { createPool } from '../../../services/workers/place/pool.ts'
import { handleTaskStateChange } from '../../../services/workers/reconcile/handle-task-state-change.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import type { Items } from '../../../services/adapters/storage/rows/items.ts'
import { createTable } from '../../../services/adapters/storage/rows/table.ts'
import { openSqlite } from '../../../services/adapters/storage/sqlite/open-sqlite.ts'
import { createBatchHandler } from '../../../services/adapters/storage/sqs/lambda-batch.ts'
import { between, EVENT_MODEL, FUNCTION_TIMEOUT_MS } from './aws-limits.ts'
import { SimulatedEcs } from './simulated-ecs.ts'
import { SimulatedLambda } from './simulated-lambda.ts'
import { SimulatedQueues } from './simulated-queues.ts'
import { createSimulatedSupervisor } from './simulated-supervisor.ts'
import { SimulatedTable, type TableCounts } from './simulated-table.ts'
import { seededRandom, VirtualTime } from './virtual-time.ts'
import { useVirtualTimers } from './virtual-timers.ts'

const IMAGE = 'simulated/sandbox:1'
const BEGIN = Date.UTC(2026, 0, 1)
const PASS_EVERY_MS = 60_000
/** As in the deployment. */
export const MAX_CONCURRENCY = { run: 200, place: 50 } as const
export const PLACE_BATCH = 10

export interface CellOptions {
  readonly seed: number
  readonly runSeconds: number
  /** `concurrency.run` of the settings. */
  readonly runConcurrency?: number
  /** Concurrent functions of the account, those of the API included; default 1,000. */
  readonly lambdaConcurrency?: number
  /** `api.reservedConcurrency` of the settings: at most so many functions of the API, and as many fewer of all others together. */
  readonly apiConcurrency?: number | undefined
  /** Divides the limits of ECS and of the table, for a small model of a large cell. */
  readonly scale?: number
  /** Warm sandboxes of the tier 1g. */
  readonly poolSize: number
}

/** What an environment of the API's function keeps for itself. */
export interface SimulatedApi {
  readonly table: Table
  readonly holds: Holds
  readonly requests: RequestLimiter
}

/** The orchestrator of one account and Region: its real steps on simulated AWS services and a simulated clock. */
export interface Cell {
  readonly time: VirtualTime
  readonly random: () => number
  readonly ecs: SimulatedEcs
  readonly lambda: SimulatedLambda
  /** Runs this work in a function of the API. */
  readonly callApi: <T>(work: (api: SimulatedApi) => Promise<T>) => Promise<T>
  readonly queues: SimulatedQueues
  /** The table as a new process sees it. */
  readonly openTable: () => Table
  /** The same rows without DynamoDB's times and limits, for the observer. */
  readonly observed: Table
  readonly tableCounts: TableCounts
  /** Durations of the reconciler's passes so far, milliseconds. */
  readonly passes: number[]
  /** Called with every wide event. */
  onEvent: (event: WideEvent) => void
  close(): Promise<void>
}

/** What the functions of a cell share. */
type CellServices = Omit<Cell, 'close' | 'callApi'>

export async function openCell(options: CellOptions): Promise<Cell> {
  const folder = await mkdtemp(join(tmpdir(), 'cellblock-simulation-'))
  const rows = await openSqlite(join(folder, 'rows.sqlite'), { isDurable: false })
  const time = new VirtualTime(BEGIN)
  const restoreTimers = useVirtualTimers(time, seededRandom(options.seed + 1))
  const cell = createCell(options, time, rows.items)
  return Object.assign(cell, {
    async close() {
      restoreTimers()
      await rows.close()
      await rm(folder, { recursive: true, force: true })
    },
  })
}

function createCell(options: CellOptions, time: VirtualTime, rows: Items): Omit<Cell, 'close'> {
  const { seed, scale, lambdaConcurrency, apiConcurrency } = options
  const random = seededRandom(seed)
  const lambda = new SimulatedLambda(time, random, { concurrent: lambdaConcurrency, reserved: { api: apiConcurrency } })
  const items = new SimulatedTable(rows, { time, random, scale })
  const services = {
    time,
    random,
    lambda,
    queues: new SimulatedQueues(time, random),
    openTable: () => createTable(items.connect(), noObjects),
    observed: createTable(rows, noObjects),
    tableCounts: items.counts,
    passes: [],
    onEvent: () => undefined,
  }
  // ECS reports its events to a function, which needs ECS.
  const ecs: SimulatedEcs = new SimulatedEcs({ time, random, scale, onEvent: (event) => invokeReconciler(event) })
  const cell: CellServices = Object.assign(services, { ecs })
  const placing = (): ReconcilerDeps => placementDeps(cell, options.poolSize)
  const invokeReconciler = defineReconciler(cell, placing)
  const api = lambda.define('api', { timeoutMs: FUNCTION_TIMEOUT_MS.api }, () => {
    const own = createApi(cell, apiConcurrency ?? OPEN_CALLS)
    return (work: (api: SimulatedApi) => Promise<unknown>) => work(own)
  })
  defineWorkers(cell, placing, options)
  const pass = (): void => {
    time.after(between(random, EVENT_MODEL.scheduleMs), () => invokeReconciler({ kind: 'pass' }))
    time.after(PASS_EVERY_MS, pass)
  }
  pass()
  return Object.assign(cell, { callApi: api as Cell['callApi'] })
}

function createApi({ openTable, time: clock }: CellServices, capacity: number): SimulatedApi {
  const table = openTable()
  const { sharedRows } = table
  const limits = createLimitReader(table.tenants, clock, defaultsFor(capacity))
  return {
    table,
    holds: new SharedHolds({ sharedRows, limits, clock, capacity }),
    requests: createRequestLimiter(sharedRows, limits, { clock, processes: 'manyProcesses' }),
  }
}

const costPerSecond = (tier: MemoryTier): number => FARGATE_PROFILE.costPerSecond(tier, { architecture: 'X86_64' })

/** Dependencies of one instance of a function. */
const commonDeps = (cell: CellServices) => ({
  table: cell.openTable(),
  queue: cell.queues,
  objects: noObjects,
  signals: noSignals,
  clock: { now: cell.time.now },
  telemetry: { emit: (event: WideEvent) => cell.onEvent(event) },
})

/** Dependencies of one instance of a function that places sandboxes. */
const placementDeps = (cell: CellServices, poolSize: number): ReconcilerDeps => ({
  ...countStorage(commonDeps(cell)),
  driver: createFargateDriver({
    ecs: cell.ecs.client,
    cluster: 'simulated',
    images: singleImage(IMAGE),
    subnets: ['subnet-1'],
    securityGroups: ['sg-1'],
    taskDefinitions: { slim: { '1g': 'sandbox-1g:1' } },
    clock: cell.time,
  }),
  poolSizes: poolSize === 0 ? {} : { '1g': poolSize },
  maxStarts: 10,
  costPerSecond,
  workerId: newId('worker'),
  hibernateAfterMs: LIMITS.hibernateAfterMinutes * 60_000,
  earlySleepMs: EARLY_SLEEP_SECONDS * 1000,
  betweenPassesMs: PASS_EVERY_MS,
})

/** Returns what invokes the reconciler without waiting for it. */
function defineReconciler(cell: CellServices, placing: () => ReconcilerDeps): (event: unknown) => void {
  const { lambda, time, passes } = cell
  const invoke = lambda.define('reconciler', { timeoutMs: FUNCTION_TIMEOUT_MS.reconciler }, () => {
    const deps = placing()
    return async (event: unknown): Promise<void> => {
      const change = readTaskEvent(event)
      if (change !== null) return handleTaskStateChange(deps, change)
      const began = time.now()
      await reconcile(deps)
      passes.push(time.now() - began)
    }
  })
  return (event) =>
    void lambda.invokeAsync(invoke, event, (error) => cell.onEvent({ event: 'invocation', outcome: 'error', detail: String(error) }))
}

/** The functions that run executions and place sandboxes, and their queues. */
function defineWorkers(cell: CellServices, placing: () => ReconcilerDeps, { runConcurrency, runSeconds }: CellOptions): void {
  const concurrency = { ...MAX_CONCURRENCY, ...(runConcurrency === undefined ? {} : { run: runConcurrency }) }
  const supervisor = createSimulatedSupervisor({
    time: cell.time,
    isRunning: (id) => cell.ecs.isRunning(id),
    runningSince: (id) => cell.ecs.runningSince(id),
    sandboxAt: (host) => cell.ecs.sandboxAt(host),
    runMs: runSeconds * 1000,
  })
  consume(cell, { queue: 'executions', name: 'run', batchSize: 1, maxConcurrency: concurrency.run }, () =>
    createRunStep({
      ...commonDeps(cell),
      supervisor,
      workerId: newId('worker'),
      images: singleImage(IMAGE),
      stepBudgetMs: 50_000,
      costPerSecond,
    }),
  )
  consume(cell, { queue: 'placements', name: 'place', batchSize: PLACE_BATCH, maxConcurrency: concurrency.place }, () => {
    const deps = placing()
    return createPlaceStep(deps, createPool(deps))
  })
}

interface QueuedFunction<Q extends QueueName> {
  readonly queue: Q
  readonly name: keyof typeof MAX_CONCURRENCY
  readonly batchSize: number
  readonly maxConcurrency: number
}

/** Defines a function and connects its queue. `create` is called for each instance of the function. */
function consume<Q extends QueueName>(
  cell: CellServices,
  { queue, name, batchSize, maxConcurrency }: QueuedFunction<Q>,
  create: () => (message: QueueMessages[Q]) => Promise<void>,
): void {
  const invoke = cell.lambda.define(name, { timeoutMs: FUNCTION_TIMEOUT_MS[name] }, () =>
    createBatchHandler(queue, create(), (error) => cell.onEvent({ event: 'message', outcome: 'error', detail: String(error) })),
  )
  const invokeBatch = async (bodies: readonly string[]): Promise<readonly number[]> => {
    const { batchItemFailures } = await invoke({ Records: bodies.map((body, place) => ({ messageId: String(place), body })) })
    return batchItemFailures.map(({ itemIdentifier }) => Number(itemIdentifier))
  }
  cell.queues.consume({ queue, maxConcurrency, batchSize, invoke: invokeBatch })
}

const noObjects: ObjectStore = {
  put: () => Promise.reject(new Error('The simulation stores no objects.')),
  get: async () => null,
  head: async () => null,
  delete: async () => undefined,
  deletePrefix: async () => 0,
  sizeOf: async () => 0,
  presignGet: async () => '',
  presignPut: async () => ({ url: '', headers: {} }),
  check: async () => undefined,
}

/** No waiter is notified, and none polls: the steps of a simulation wait for nothing but the supervisor. */
const noSignals: Signals = {
  notify: () => undefined,
  subscribe: () => ({ next: () => new Promise(() => undefined), close: () => undefined }),
}
