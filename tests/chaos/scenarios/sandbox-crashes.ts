import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { handleTaskStateChange } from '../../../services/workers/reconcile/handle-task-state-change.ts'
import { killablePorts, WorkerKilledError } from '../harness/killable-ports.ts'
import type { Stage } from '../harness/scripted-kernel.ts'
import { createWorker } from '../harness/worker.ts'
import { prepare, startFixture, type Setting, type Fixture } from './worker-crashes.ts'
import type { Scenario } from './scenario.ts'
import { deliverAll, settle, sweep } from './settle.ts'

const RUNS = 20
/** The maximum time to the end of the job: with lease expiry only, and with a task state change event; milliseconds of the workers' clock. */
const LEASE_EXPIRY_LIMIT_MS = 93_000
const EVENT_LIMIT_MS = 5_000

/** The stage at which the sandbox is killed, and a setting that reaches it. */
const STAGES: readonly (readonly [Stage, Setting])[] = [
  ['health', 'live'],
  ['health', 'cold'],
  ['put_file', 'upload'],
  ['restore', 'hibernated'],
  ['snapshot', 'hibernating'],
  ['submitted', 'live'],
  ['submitted', 'warm'],
  ['started', 'live'],
  ['line', 'live'],
  ['line', 'cold'],
  ['finished', 'live'],
  ['get_file', 'live'],
]
/**
 * How the crash is detected. `worker_alive`: by the worker of the job. `platform_event`: the worker is killed too; the platform reports the crash after
 * the lease has expired. `lease_expiry`: the worker is killed too; the platform reports nothing.
 */
const DETECTIONS = ['worker_alive', 'platform_event', 'lease_expiry'] as const
type Detection = (typeof DETECTIONS)[number]

async function kill(
  fixture: Fixture,
  stage: Stage,
  setting: Setting,
  detection: Detection,
): Promise<{ readonly tookMs: number; readonly isHit: boolean }> {
  const { harness, healthy, clockOffset, clock, finished } = fixture
  const { container, accept } = await prepare(fixture, setting)
  const early = setting === 'hibernating' ? null : await accept()
  const name = `beside-${stage}-${detection}`
  const victim = killablePorts(harness.manualPorts, Number.POSITIVE_INFINITY, 'before', () => undefined)
  const worker = createWorker({ name, ports: victim.ports, history: harness.history, clock })
  let hit: string | null = null
  harness.platform.onStage = async (at, sandbox, execution) => {
    const isOurs = execution === null || execution === early?.execution
    if (hit !== null || at !== stage || !isOurs) return
    hit = sandbox
    harness.history.add({ type: 'killed', worker: sandbox, at: `${setting}: ${stage}` })
    if (detection !== 'worker_alive') victim.kill()
    await harness.platform.kill(sandbox)
  }
  // The platform's event arrives twice, the second time after the job has ended.
  const sendEvent = async (): Promise<void> => {
    if (hit === null || detection !== 'platform_event') return
    const change = { sandboxId: hit, platformId: hit, status: { phase: 'gone', reason: 'lost', exitCode: 137 } } as const
    await handleTaskStateChange(healthy.placing, change)
    await handleTaskStateChange(healthy.placing, change)
  }
  for (let message = harness.manualQueue.receive(); message !== undefined; message = harness.manualQueue.receive()) {
    await Promise.race([worker.handle(message).catch(ignoreKill), victim.killed])
    if (!victim.isKilled) continue
    harness.manualQueue.messages.push(message)
    break
  }
  harness.platform.onStage = () => undefined
  const job = early ?? (await accept())
  if (detection === 'platform_event') clockOffset.ms += LEASE_MS + 1_000
  await sendEvent()
  await deliverAll(harness, healthy)
  const tookMs = await settle(harness, healthy, clockOffset, [job])
  await sendEvent()
  await harness.observe(job)
  // The next execution runs in a new sandbox and its result names the lost state.
  const next = await harness.accept(container, { now: clock.now() })
  await settle(harness, healthy, clockOffset, [next])
  await harness.observe(next)
  if (finished.push(container) >= 12) await sweep(harness, healthy, clockOffset, finished.splice(0))
  return { tookMs, isHit: hit !== null }
}

function ignoreKill(cause: unknown): void {
  if (!(cause instanceof WorkerKilledError)) return
}

/** Kills sandboxes at every stage, with and without their worker, with and without an event from the platform. */
export const sandboxCrashes: Scenario = {
  name: 'sandbox-crashes',
  thresholds: ['D-36'],
  async run({ scale, log }) {
    const fixture = await startFixture()
    const rounds = Math.max(1, Math.round(RUNS * scale))
    const failures: string[] = []
    const slowest: Record<Detection, number> = { worker_alive: 0, platform_event: 0, lease_expiry: 0 }
    let hits = 0
    try {
      for (let round = 0; round < rounds; round++)
        for (const [index, [stage, setting]] of STAGES.entries())
          for (const detection of scale < 0.05
            ? [stage === 'get_file' ? DETECTIONS[0] : (DETECTIONS[index % DETECTIONS.length] as Detection)]
            : DETECTIONS) {
            const { tookMs, isHit } = await kill(fixture, stage, setting, detection)
            if (isHit) hits += 1
            else failures.push(`${setting} never reached ${stage}`)
            slowest[detection] = Math.max(slowest[detection], tookMs)
            if (tookMs > (detection === 'lease_expiry' ? LEASE_EXPIRY_LIMIT_MS : EVENT_LIMIT_MS))
              failures.push(`${setting}, ${stage}, ${detection}: the end came ${tookMs} ms after the crash`)
          }
      const { harness, healthy, clockOffset, finished } = fixture
      await sweep(harness, healthy, clockOffset, finished)
      const { history, platform } = harness
      if (platform.alive.size > 0) failures.push(`${platform.alive.size} sandboxes remain`)
      for (const entry of history.entries)
        if (entry.type === 'observed' && entry.status !== 'succeeded' && entry.reason !== 'sandbox_lost')
          failures.push(`${entry.execution} ended ${entry.status} ${entry.reason}`)
      // Code that has ended keeps its outcome. Only files that were not yet collected are lost.
      if (
        !history.entries.some(
          (entry) => entry.type === 'observed' && entry.status === 'succeeded' && entry.lost.some((what) => what.startsWith('file ')),
        )
      )
        failures.push('no result names a file lost with its sandbox')
      log(`sandbox-crashes: ${hits}`)
      return {
        histories: [history],
        failures,
        figures: {
          sandbox_crashes: hits,
          slowest_worker_alive_ms: slowest.worker_alive,
          slowest_platform_event_ms: slowest.platform_event,
          slowest_lease_expiry_ms: slowest.lease_expiry,
        },
      }
    } finally {
      await fixture.harness.stop()
    }
  },
}
