import { cancelExecution } from '../../../services/operations/executions/cancel-execution.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { hasEnded } from '../../../services/model/executions/execution.ts'
import { objectPrefix } from '../../../services/model/object-keys.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import { finalStatusOf } from '../history.ts'
import type { Stage } from '../harness/scripted-kernel.ts'
import { hookPorts } from '../harness/killable-ports.ts'
import { createWorker } from '../harness/worker.ts'
import { prepare, startFixture, type Setting, type Fixture } from './worker-crashes.ts'
import type { Scenario } from './scenario.ts'
import { deliverAll, settle, sweep } from './settle.ts'
import { silentTelemetry } from '../../support/silent-telemetry.ts'

const RUNS = 50
/** The maximum time that code may run after a cancel, milliseconds of the workers' clock. */
const COMPUTE_MS = 5_000

/** The moment at which the job is cancelled or its container deleted: at a port call of the worker or at a stage of the sandbox. */
const MOMENTS: readonly { readonly setting: Setting; readonly stage?: Stage; readonly call?: string }[] = [
  { setting: 'cold', call: 'executions.get' },
  { setting: 'cold', call: 'sandboxes.create' },
  { setting: 'cold', call: 'driver.start' },
  { setting: 'warm', call: 'sandboxes.claim' },
  { setting: 'upload', stage: 'put_file' },
  { setting: 'hibernated', stage: 'restore' },
  { setting: 'live', stage: 'submitted' },
  { setting: 'live', stage: 'started' },
  { setting: 'live', stage: 'line' },
  { setting: 'live', stage: 'finished' },
  { setting: 'live', stage: 'get_file' },
  { setting: 'live', call: 'executions.commit' },
]
const ACTS = ['cancel', 'delete'] as const

interface RaceOutcome {
  readonly failure: string | null
  readonly container: Container
}

async function play(fixture: Fixture, moment: (typeof MOMENTS)[number], act: (typeof ACTS)[number]): Promise<RaceOutcome> {
  const { harness, healthy, clockOffset, clock } = fixture
  const { container, accept } = await prepare(fixture, moment.setting)
  const { tenant, id } = container
  const job = await accept()
  const { table, objects } = harness.reliablePorts
  const api = { table, objects, queue: harness.manualQueue.queue, signals: createLocalSignals(), clock, telemetry: silentTelemetry }
  let acting: Promise<unknown> | null = null
  // Concurrently with the step, as the API does.
  const cancelOrDelete = async (): Promise<void> => {
    const row = act === 'delete' ? await table.containers.markDeleted(tenant, id, clock.now()) : null
    for (const execution of act === 'delete' ? (row?.queue ?? []) : [job.execution]) await cancelExecution(api, { tenant, id: execution })
    const sandboxId = row?.sandboxId ?? null
    if (sandboxId !== null) await api.queue.send('placements', { v: 1, type: 'sandbox.stop', sandboxId }, { group: tenant })
  }
  const trigger = (): void => void (acting ??= cancelOrDelete())
  harness.platform.onStage = (stage, _sandbox, execution) => {
    if (stage === moment.stage && (execution === null || execution === job.execution)) trigger()
  }
  const ports = hookPorts(harness.manualPorts, {
    before: (_number, verb) => {
      if (verb === moment.call) trigger()
    },
  })
  const worker = createWorker({ name: `at-${moment.stage ?? moment.call}`, ports, history: harness.history, clock })
  await deliverAll(harness, worker)
  harness.platform.onStage = () => undefined
  if (acting === null) return { container, failure: `${moment.setting} never reached ${moment.stage ?? moment.call}` }
  await acting
  const tookMs = await settle(harness, healthy, clockOffset, [job])
  await harness.observe(job)
  const row = await table.executions.get(tenant, job.execution)
  const isOpen = row !== null && !hasEnded(row.status)
  if (isOpen || (act === 'cancel' && tookMs > COMPUTE_MS && finalStatusOf(harness.history, job.execution) === 'succeeded'))
    return { container, failure: `${act} at ${moment.stage ?? moment.call}: ${row?.status} after ${tookMs} ms` }
  return { container, failure: null }
}

/** Rows and objects that remain after a container was deleted. */
async function remainsOf({ harness }: Fixture, containers: readonly Container[]): Promise<readonly string[]> {
  const left: string[] = []
  for (const { tenant, id } of containers) {
    const { rows } = await harness.reliablePorts.table.executions.listByContainer(tenant, id, { after: null, limit: 10, order: 'asc' })
    const objects = await harness.reliablePorts.objects.deletePrefix(objectPrefix(tenant, id))
    const files = await harness.reliablePorts.table.files.all(tenant, id)
    if (rows.length + objects + files.length > 0)
      left.push(`${id} left ${rows.length} executions, ${files.length} files, ${objects} objects`)
  }
  return left
}

/** Cancels jobs and deletes containers at every stage of an execution. */
export const cancelDelete: Scenario = {
  name: 'cancel-delete',
  thresholds: ['D-37'],
  async run({ scale, log }) {
    const fixture = await startFixture()
    const failures: string[] = []
    const rounds = Math.max(1, Math.round(RUNS * scale))
    let races = 0
    let finished: Container[] = []
    const clear = async (): Promise<void> => {
      failures.push(...(await sweep(fixture.harness, fixture.healthy, fixture.clockOffset, finished)).map((id) => `${id} was not removed`))
      failures.push(...(await remainsOf(fixture, finished)))
      finished = []
    }
    try {
      for (let round = 0; round < rounds; round++)
        for (const [index, moment] of MOMENTS.entries())
          for (const act of scale < 0.05 ? [ACTS[index % 2] as (typeof ACTS)[number]] : [ACTS[round % 2] as (typeof ACTS)[number]]) {
            const { failure, container } = await play(fixture, moment, act)
            if (failure !== null) failures.push(failure)
            races += 1
            if (finished.push(container) >= 12) await clear()
          }
      await clear()
      const { history, platform } = fixture.harness
      if (platform.alive.size > 0) failures.push(`${platform.alive.size} sandboxes remain`)
      log(`cancel and delete: ${races} races`)
      return { histories: [history], failures, figures: { races, moments: MOMENTS.length } }
    } finally {
      await fixture.harness.stop()
    }
  },
}
