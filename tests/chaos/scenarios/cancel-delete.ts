import { cancelExecution } from '../../../services/api/executions/cancel-execution.ts'
import type { Container } from '../../../services/core/containers/container.ts'
import { hasEnded } from '../../../services/core/executions/execution.ts'
import { objectPrefix } from '../../../services/core/object-keys.ts'
import { createLocalSignals } from '../../../services/storage/signals/local-signals.ts'
import { hasEndedIn } from '../history.ts'
import type { Stage } from '../world/scripted-kernel.ts'
import { watchPorts } from '../world/killable.ts'
import { createWorker } from '../world/worker.ts'
import { prepare, startStand, type Setting, type Stand } from './deaths.ts'
import type { Scenario } from './scenario.ts'
import { deliverAll, settle, sweep } from './settle.ts'

const RUNS = 50
/** After a cancel nothing may compute for longer than this, milliseconds of the workers' clock. */
const COMPUTE_MS = 5_000

/** What a job is doing when somebody does not want it any more. `call` waits for a call of the worker, `stage` for one of the sandbox. */
const MOMENTS: readonly { readonly setting: Setting; readonly stage?: Stage; readonly call?: string }[] = [
  { setting: 'cold', call: 'executions.get' },
  { setting: 'cold', call: 'sandboxes.create' },
  { setting: 'cold', call: 'driver.start' },
  { setting: 'warm', call: 'sandboxes.claim' },
  { setting: 'upload', stage: 'put_file' },
  { setting: 'asleep', stage: 'restore' },
  { setting: 'live', stage: 'handed' },
  { setting: 'live', stage: 'begun' },
  { setting: 'live', stage: 'line' },
  { setting: 'live', stage: 'finished' },
  { setting: 'live', stage: 'get_file' },
  { setting: 'live', call: 'executions.commit' },
]
const ACTS = ['cancel', 'delete'] as const

interface Played {
  readonly complaint: string | null
  readonly container: Container
}

async function play(stand: Stand, moment: (typeof MOMENTS)[number], act: (typeof ACTS)[number]): Promise<Played> {
  const { world, healthy, ahead, clock } = stand
  const { container, accept } = await prepare(stand, moment.setting)
  const { tenant, id } = container
  const job = await accept()
  const api = { table: world.clean.table, queue: world.courier.queue, signals: createLocalSignals(), clock }
  let acting: Promise<unknown> | null = null
  // As the API does it, beside the step and not before it.
  const unwanted = async (): Promise<void> => {
    const row = act === 'delete' ? await world.clean.table.containers.markDeleted(tenant, id, clock.now()) : null
    for (const execution of act === 'delete' ? (row?.queue ?? []) : [job.execution]) await cancelExecution(api, tenant, execution)
    const sandboxId = row?.sandboxId ?? null
    if (sandboxId !== null) await api.queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId }, { group: tenant })
  }
  const happen = (): void => void (acting ??= unwanted())
  world.fleet.onStage = (stage, _sandbox, execution) => {
    if (stage === moment.stage && (execution === null || execution === job.execution)) happen()
  }
  const ports = watchPorts(world.byHand, {
    before: (_number, verb) => {
      if (verb === moment.call) happen()
    },
  })
  const worker = createWorker({ name: `at-${moment.stage ?? moment.call}`, ports, history: world.history, clock })
  await deliverAll(world, worker)
  world.fleet.onStage = () => undefined
  if (acting === null) return { container, complaint: `${moment.setting} never came to ${moment.stage ?? moment.call}` }
  await acting
  const tookMs = await settle(world, healthy, ahead, [job])
  await world.see(job)
  const row = await world.clean.table.executions.get(tenant, job.execution)
  const isOpen = row !== null && !hasEnded(row.status)
  if (isOpen || (act === 'cancel' && tookMs > COMPUTE_MS && hasEndedIn(world.history, job.execution) === 'succeeded'))
    return { container, complaint: `${act} at ${moment.stage ?? moment.call}: ${row?.status} after ${tookMs} ms` }
  return { container, complaint: null }
}

/** What a deleted container left in the table, in the store and among the sandboxes. */
async function leftOf({ world }: Stand, containers: readonly Container[]): Promise<readonly string[]> {
  const left: string[] = []
  for (const { tenant, id } of containers) {
    const { rows } = await world.clean.table.executions.listByContainer(tenant, id, { after: null, limit: 10, order: 'asc' })
    const objects = await world.clean.objects.deletePrefix(objectPrefix(tenant, id))
    const files = await world.clean.table.files.all(tenant, id)
    if (rows.length + objects + files.length > 0)
      left.push(`${id} left ${rows.length} executions, ${files.length} files, ${objects} objects`)
  }
  return left
}

/** Jobs that are cancelled, and containers that are deleted, in the middle of everything. */
export const cancelDelete: Scenario = {
  name: 'cancel-delete',
  bars: ['D-37'],
  async run({ scale, say }) {
    const stand = await startStand()
    const complaints: string[] = []
    const rounds = Math.max(1, Math.round(RUNS * scale))
    let races = 0
    let used: Container[] = []
    const clear = async (): Promise<void> => {
      complaints.push(...(await sweep(stand.world, stand.healthy, stand.ahead, used)).map((id) => `${id} is not gone`))
      complaints.push(...(await leftOf(stand, used)))
      used = []
    }
    try {
      for (let round = 0; round < rounds; round++)
        for (const [index, moment] of MOMENTS.entries())
          for (const act of scale < 0.05 ? [ACTS[index % 2] as (typeof ACTS)[number]] : [ACTS[round % 2] as (typeof ACTS)[number]]) {
            const { complaint, container } = await play(stand, moment, act)
            if (complaint !== null) complaints.push(complaint)
            races += 1
            if (used.push(container) >= 12) await clear()
          }
      await clear()
      const { history, fleet } = stand.world
      if (fleet.alive.size > 0) complaints.push(`${fleet.alive.size} sandboxes were left`)
      say(`cancel and delete: ${races} races`)
      return { histories: [history], faults: complaints, figures: { races, moments: MOMENTS.length } }
    } finally {
      await stand.world.stop()
    }
  },
}
