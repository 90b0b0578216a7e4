import { LEASE_MS } from '../../../services/jobs/lease.ts'
import type { Container } from '../../../services/model/containers/container.ts'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { startSandbox } from '../../../services/workers/place/start-sandbox.ts'
import type { Job } from '../history.ts'
import { WorkerKilledError, killablePorts } from '../harness/killable-ports.ts'
import { createWorker, type Worker } from '../harness/worker.ts'
import { startHarness, type Harness } from '../harness/harness.ts'
import type { Scenario } from './scenario.ts'
import { deliverAll, settle, sweep, type ClockOffset } from './settle.ts'

/** The state of the container before the crash. Each setting takes another path through the steps. */
export const SETTINGS = ['cold', 'warm', 'live', 'upload', 'hibernated', 'hibernating'] as const
export type Setting = (typeof SETTINGS)[number]

/** Runs per crash point. Several settings share calls, so each call of the orchestrator is a crash point at least 25 times. */
const RUNS = 4
const BETWEEN_SWEEPS = 12
/** The short form tests every nth call. */
const SHORT_STEP = 37

export interface Fixture {
  readonly harness: Harness
  readonly healthy: Worker
  readonly clockOffset: ClockOffset
  /** Finished containers, to be deleted by the next sweep. */
  readonly finished: Container[]
  readonly clock: { readonly now: () => number }
}

export async function startFixture(options: { readonly canSuspend?: boolean } = {}): Promise<Fixture> {
  const harness = await startHarness(options)
  const clockOffset: ClockOffset = { ms: 0 }
  const clock = { now: () => Date.now() + clockOffset.ms }
  const healthy = createWorker({ name: 'healthy', ports: harness.manualPorts, history: harness.history, clock })
  return { harness, healthy, clockOffset, clock, finished: [] }
}

export interface Prepared {
  readonly container: Container
  /** Accepts the job. With `hibernating`, call it after the hibernation, because a queued job prevents hibernation. */
  readonly accept: () => Promise<Job>
}

/** Prepares a container in this setting: a new one, or `existing`, which has run code before. */
export async function prepare(
  { harness, healthy, clockOffset, clock }: Fixture,
  setting: Setting,
  finished: Container | null = null,
): Promise<Prepared> {
  const container = finished ?? (await harness.newContainer())
  if (setting === 'warm') await warm(harness, healthy, clock.now())
  if (finished === null && setting !== 'cold' && setting !== 'warm') {
    const first = await harness.accept(container, { now: clock.now() })
    await settle(harness, healthy, clockOffset, [first])
    await harness.observe(first)
  }
  if (setting === 'upload') await harness.upload(container)
  if (setting === 'hibernated') {
    await requestHibernation(harness, container)
    await deliverAll(harness, healthy)
  }
  if (setting === 'hibernating') await requestHibernation(harness, container)
  return { container, accept: () => harness.accept(container, { now: clock.now() }) }
}

async function warm(harness: Harness, { placing }: Worker, now: number): Promise<void> {
  const sandbox = newSandbox({ memoryTier: '1g', image: harness.platform.driver.images.resolve().reference, claimedBy: null }, now)
  await harness.reliablePorts.table.sandboxes.create(sandbox)
  await startSandbox(placing, sandbox)
}

async function requestHibernation(harness: Harness, { tenant, id }: Container): Promise<void> {
  const row = await harness.reliablePorts.table.containers.get(tenant, id)
  const message = { v: 1, type: 'container.hibernate', tenant, containerId: id, idleSince: row?.lastActiveAt ?? 0 } as const
  await harness.manualQueue.queue.send('executions', message, { group: tenant })
}

/** Runs one job whose worker is killed at its nth call. Returns false if the worker made fewer calls. */
export async function crashAt(
  fixture: Fixture,
  setting: Setting,
  at: number,
  when: 'before' | 'after',
  points: Set<string>,
): Promise<boolean> {
  const { harness, healthy, clockOffset, clock, finished } = fixture
  const { container, accept } = await prepare(fixture, setting)
  const early = setting === 'hibernating' ? null : await accept()
  const name = `victim-${setting}-${when}-${at}`
  const victim = killablePorts(harness.manualPorts, at, when, (verb) => {
    points.add(`${setting}: ${verb}`)
    harness.history.add({ type: 'killed', worker: name, at: verb })
  })
  const worker = createWorker({ name, ports: victim.ports, history: harness.history, clock })
  const work = async (): Promise<void> => {
    for (let message = harness.manualQueue.receive(); message !== undefined && !victim.isKilled; message = harness.manualQueue.receive()) {
      await Promise.race([worker.handle(message).catch(ignoreKill), victim.killed])
      // SQS delivers a message again if its consumer did not delete it.
      if (victim.isKilled) return void harness.manualQueue.messages.push(message)
    }
  }
  await work()
  const job = early ?? (await accept())
  for (await work(); !victim.isKilled && !(await harness.hasEnded(job)); await work()) {
    clockOffset.ms += LEASE_MS
    await worker.reconcile().catch(ignoreKill)
  }
  if (victim.isKilled) clockOffset.ms += LEASE_MS + 1_000
  await settle(harness, healthy, clockOffset, [job])
  await harness.observe(job)
  if (finished.push(container) >= BETWEEN_SWEEPS) await sweep(harness, healthy, clockOffset, finished.splice(0))
  return victim.isKilled
}

function ignoreKill(cause: unknown): void {
  if (!(cause instanceof WorkerKilledError)) return
}

/** Kills a worker before and after each of its port calls. */
export const workerCrashes: Scenario = {
  name: 'worker-crashes',
  thresholds: ['D-30'],
  async run({ scale, log }) {
    const fixture = await startFixture()
    const points = new Set<string>()
    const rounds = Math.max(1, Math.round(RUNS * scale))
    try {
      for (let round = 0; round < rounds; round++)
        for (const setting of SETTINGS)
          for (const when of ['before', 'after'] as const) {
            const step = scale < 0.1 ? SHORT_STEP : 1
            for (let at = when === 'before' ? 0 : Math.floor(step / 2); await crashAt(fixture, setting, at, when, points); at += step);
          }
      await sweep(fixture.harness, fixture.healthy, fixture.clockOffset, fixture.finished)
      const { history, platform } = fixture.harness
      log(`worker-crashes: ${points.size} points, ${rounds} runs of each`)
      const orphans = platform.alive.size
      return {
        histories: [history],
        failures: orphans === 0 ? [] : [`${orphans} sandboxes remain`],
        figures: { points: points.size, orphans },
      }
    } finally {
      await fixture.harness.stop()
    }
  },
}
