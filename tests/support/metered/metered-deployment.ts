import { OPEN_CALLS } from '../../../infra/config.ts'
import { EARLY_SLEEP_SECONDS } from '../../../infra/sandbox-settings.ts'
import { createApp } from '../../../services/entries/api/app.ts'
import { turnInShare } from '../../../services/entries/aws/chat/turn-in-share.ts'
import { ApiConfig } from '../../../services/http/config.ts'
import { singleImage } from '../../../services/model/containers/images.ts'
import { newId } from '../../../services/model/ids.ts'
import type { QueueMessages, QueueName } from '../../../services/model/messages.ts'
import { apiKeyRow, newApiKey } from '../../../services/model/tenants/api-keys.ts'
import { countStorage } from '../../../services/operations/tenancy/meter-storage.ts'
import { SharedHolds } from '../../../services/operations/tenancy/shared-holds.ts'
import type { MemoryTier } from '../../../services/model/limits.ts'
import type { ModelCatalogue } from '../../../services/ports/model-catalogue.ts'
import type { Queue } from '../../../services/ports/queue.ts'
import type { Supervisor } from '../../../services/ports/supervisor.ts'
import type { ReconcilerDeps, RunDeps } from '../../../services/workers/deps.ts'
import type { TurnDeps } from '../../../services/workers/turn/deps.ts'
import { createPlaceStep } from '../../../services/workers/place/place-step.ts'
import { createPool } from '../../../services/workers/place/pool.ts'
import { handleTaskStateChange } from '../../../services/workers/reconcile/handle-task-state-change.ts'
import { reconcile } from '../../../services/workers/reconcile/reconcile.ts'
import { createRunStep } from '../../../services/workers/run/step/run-step.ts'
import { createTurnStep } from '../../../services/workers/turn/turn-step.ts'
import { createFargateDriver } from '../../../services/adapters/drivers/fargate/fargate-driver.ts'
import { FARGATE_PROFILE } from '../../../services/adapters/drivers/fargate/profile.ts'
import { readTaskEvent } from '../../../services/adapters/drivers/fargate/task-event.ts'
import { demoModel } from '../../../services/adapters/models/demo.ts'
import { createTable } from '../../../services/adapters/storage/rows/table.ts'
import type { Items } from '../../../services/adapters/storage/rows/items.ts'
import { createPollingSignals } from '../../../services/adapters/storage/signals/polling-signals.ts'
import { createBatchHandler } from '../../../services/adapters/storage/sqs/lambda-batch.ts'
import { SimulatedEcs } from '../../../scripts/operate/simulate/simulated-ecs.ts'
import { SimulatedQueues } from '../../../scripts/operate/simulate/simulated-queues.ts'
import { createSimulatedSupervisor } from '../../../scripts/operate/simulate/simulated-supervisor.ts'
import { seededRandom, type VirtualTime } from '../../../scripts/operate/simulate/virtual-time.ts'
import { silentTelemetry } from '../silent-telemetry.ts'
import { meteredItems, type BilledUnits } from './metered-items.ts'
import { countedObjects } from './counted-objects.ts'

const IMAGE = 'metered/sandbox:1'

export interface Billed extends BilledUnits {
  puts: number
  gets: number
  /** Messages by queue. */
  readonly messages: Record<string, number>
}

interface Options {
  readonly time: VirtualTime
  readonly rows: Items
  /** Of one answer; a turn with code has two. */
  readonly modelSeconds: number
  readonly runSeconds: number
}

/** The functions of a deployment on a simulated clock, whose calls are billed. */
export async function startMeteredDeployment(options: Options) {
  const { time } = options
  const billed: Billed = { writes: 0, reads: 0, puts: 0, gets: 0, messages: {} }
  const queues = new SimulatedQueues(time, seededRandom(1))
  const objects = countedObjects(billed)
  const ports = {
    table: createTable(meteredItems(options.rows, billed), objects),
    objects,
    queue: countedQueue(queues, billed),
    signals: createPollingSignals(),
    clock: { now: time.now },
    telemetry: silentTelemetry,
    models: slowDemo(time, options.modelSeconds),
    prices: FARGATE_PROFILE.prices,
    images: singleImage(IMAGE),
    costPerSecond: (tier: MemoryTier) => FARGATE_PROFILE.costPerSecond(tier, { architecture: 'X86_64' }),
    workerId: newId('worker'),
  }
  const ecs: SimulatedEcs = new SimulatedEcs({ time, random: seededRandom(2), onEvent: (event) => void onTaskEvent(event) })
  const placing = placementDeps(ports, ecs)
  const onTaskEvent = async (event: unknown): Promise<void> => {
    const change = readTaskEvent(event)
    if (change !== null) await handleTaskStateChange(placing, change)
  }
  const errors: unknown[] = []
  const consume = consumerOf(queues, errors)
  consume('turns', turnWorker(ports))
  consume('executions', createRunStep({ ...ports, supervisor: supervisorOf(options, ecs), stepBudgetMs: 50_000 }))
  consume('placements', createPlaceStep(placing, createPool(placing)))
  const key = newApiKey()
  await ports.table.tenants.putKey(apiKeyRow(key, { tenant: newId('tenant') }, time.now()))
  return { billed, errors, reconcile: () => reconcile(placing), post: poster(ports, key) }
}

type Ports = Omit<TurnDeps, 'signals'> & Pick<RunDeps, 'signals' | 'images' | 'costPerSecond'>

const placementDeps = (ports: Ports, ecs: SimulatedEcs): ReconcilerDeps => ({
  ...countStorage(ports),
  driver: createFargateDriver({
    ecs: ecs.client,
    cluster: 'metered',
    images: ports.images,
    subnets: ['subnet-1'],
    securityGroups: ['sg-1'],
    clock: ports.clock,
    taskDefinitions: { slim: { '1g': 'sandbox-1g:1' } },
  }),
  poolSizes: {},
  maxStarts: 10,
  hibernateAfterMs: 300_000,
  earlySleepMs: EARLY_SLEEP_SECONDS * 1000,
  betweenPassesMs: 60_000,
})

/** The chat worker, with the share of its tenant. */
function turnWorker(ports: Ports): (message: QueueMessages['turns']) => Promise<void> {
  const step = createTurnStep({ ...ports, stepLimitMs: 110_000 })
  const holds = new SharedHolds({ sharedRows: ports.table.sharedRows, clock: ports.clock, name: 'turn_steps', capacity: 100 })
  return turnInShare({
    holds,
    queue: ports.queue,
    step: async (message) => (message.type === 'response.step' ? step(message) : undefined),
  })
}

/** Posts to the API as a client does. */
function poster(ports: Ports, key: string): (path: string, body: object) => Promise<Response> {
  const app = createApp({
    ...ports,
    toolTypes: [],
    readiness: async () => ({ ok: true, parts: {} }),
    config: ApiConfig.parse({ openCalls: OPEN_CALLS, maxHoldSeconds: 840, auditFlushMs: 0 }),
  })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return async (path, body) => app.fetch(new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
}

/** Sandboxes whose variables are a kilobyte. */
const supervisorOf = ({ time, runSeconds }: Options, ecs: SimulatedEcs): Supervisor => ({
  ...createSimulatedSupervisor({
    time,
    runMs: runSeconds * 1000,
    isRunning: (id) => ecs.isRunning(id),
    runningSince: (id) => ecs.runningSince(id),
    sandboxAt: (host) => ecs.sandboxAt(host),
  }),
  snapshot: async () => ({
    body: (async function* () {
      yield new Uint8Array(1024)
    })(),
    usage: () => null,
  }),
})

const countedQueue = (queues: SimulatedQueues, { messages }: Billed): Queue => ({
  async send(name, message, options) {
    messages[name] = (messages[name] ?? 0) + 1
    await queues.send(name, message, options)
  },
  check: async () => undefined,
})

const consumerOf =
  (queues: SimulatedQueues, errors: unknown[]) =>
  <Q extends QueueName>(queue: Q, handle: (message: QueueMessages[Q]) => Promise<void>): void => {
    const invoke = createBatchHandler(queue, handle, (error) => void errors.push(error))
    queues.consume({
      queue,
      maxConcurrency: 50,
      batchSize: 1,
      invoke: async (bodies) => {
        const { batchItemFailures } = await invoke({ Records: bodies.map((body, place) => ({ messageId: String(place), body })) })
        return batchItemFailures.map(({ itemIdentifier }) => Number(itemIdentifier))
      },
    })
  }

/** The demo model, each of whose answers takes this long. */
function slowDemo(time: VirtualTime, seconds: number): ModelCatalogue {
  const chat: typeof demoModel = {
    async *stream(request, signal) {
      for await (const delta of demoModel.stream(request, signal)) {
        if (delta.type === 'finish') await time.sleep(seconds * 1000)
        yield delta
      }
    },
  }
  const entry = { id: 'demo', createdAt: 0, ownedBy: 'cellblock', readsImages: false }
  return {
    list: () => [entry],
    has: (id) => id === 'demo',
    find: () => ({
      chat,
      upstreamName: 'demo',
      contextWindow: 100_000,
      bytesPerToken: 4,
      fencesCode: false,
      readsImages: false,
      enforcesSchema: false,
    }),
  }
}
