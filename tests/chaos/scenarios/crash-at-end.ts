import { setTimeout as delay } from 'node:timers/promises'
import { executionEvents } from '../../../services/operations/executions/execution-events.ts'
import { topicOf } from '../../../services/model/events.ts'
import type { ExecutionEvent } from '../../../services/model/executions/execution-event.ts'
import { LEASE_MS } from '../../../services/jobs/lease.ts'
import { createLocalSignals } from '../../../services/adapters/storage/signals/local-signals.ts'
import type { Harness } from '../harness/harness.ts'
import { killablePorts, WorkerKilledError, type KillablePorts } from '../harness/killable-ports.ts'
import { createWorker } from '../harness/worker.ts'
import type { Job } from '../history.ts'
import { prepare, startFixture, type Fixture } from './worker-crashes.ts'
import type { Scenario } from './scenario.ts'
import { settle, sweep } from './settle.ts'

const RUNS = 20
const BETWEEN_SWEEPS = 12
/** One event that is too large for a row. The worker writes it to the log before it ends the row. */
const LINE_BYTES = 60_000
const READ_TIMEOUT_MS = 10_000

interface Reader {
  /** Resolves when the reader has the whole log. */
  caughtUp(): Promise<void>
  /** Resolves with whether the reader saw `done`. */
  end(): Promise<boolean>
}

/** Follows the events of a job as the API does and adds the `done` that it sees to the history. */
async function follow({ history, reliablePorts: { table } }: Harness, { tenant, execution }: Job): Promise<Reader> {
  const row = await table.executions.get(tenant, execution)
  if (row === null) throw new Error(`${execution} has no row`)
  const signals = createLocalSignals()
  const deps = { table, signals, clock: { now: () => Date.now() }, config: { heartbeatMs: 5_000 } }
  let last = 0
  let sawDone = false
  const reading = (async () => {
    for await (const event of executionEvents(deps, row, { after: 0, signal: AbortSignal.timeout(READ_TIMEOUT_MS) })) {
      if (event === null) continue
      last = event.seq
      if (event.type !== 'done') continue
      sawDone = true
      history.add({ type: 'end_read', execution, status: event.status })
    }
  })()
  return {
    async caughtUp() {
      const logged = await table.events.read<ExecutionEvent>({ kind: 'execution', tenant, id: execution }, 0, 10_000)
      const target = logged.findLast(({ type }) => type !== 'done')?.seq ?? 0
      while (last < target && !sawDone) {
        signals.notify(topicOf('execution', execution))
        await delay(1)
      }
    },
    async end() {
      signals.notify(topicOf('execution', execution))
      await reading
      return sawDone
    },
  }
}

async function work({ harness, clock }: Fixture, victim: KillablePorts, name: string): Promise<void> {
  const worker = createWorker({ name, ports: victim.ports, history: harness.history, clock })
  for (let message = harness.manualQueue.receive(); message !== undefined; message = harness.manualQueue.receive()) {
    await Promise.race([worker.handle(message).catch(ignoreKill), victim.killed])
    if (!victim.isKilled) continue
    harness.manualQueue.messages.push(message)
    return
  }
}

function ignoreKill(cause: unknown): void {
  if (!(cause instanceof WorkerKilledError)) return
}

const prepareLarge = async (fixture: Fixture) => {
  const { container } = await prepare(fixture, 'live')
  fixture.finished.push(container)
  return fixture.harness.accept(container, { lines: 1, lineBytes: LINE_BYTES, file: false, now: fixture.clock.now() })
}

/** The numbers of a worker's calls from its last write of the log to the one that ends the row. */
async function callsAtEnd(fixture: Fixture): Promise<readonly number[]> {
  const job = await prepareLarge(fixture)
  const victim = killablePorts(fixture.harness.manualPorts, Number.POSITIVE_INFINITY, 'before', () => undefined)
  await work(fixture, victim, 'rehearsal')
  await settle(fixture.harness, fixture.healthy, fixture.clockOffset, [job])
  await fixture.harness.observe(job)
  const drain = victim.calls.lastIndexOf('events.append')
  const commit = victim.calls.lastIndexOf('executions.commit')
  return Array.from({ length: Math.max(0, commit - drain + 1) }, (_, index) => drain + index)
}

interface Crash {
  readonly at: number
  readonly when: 'before' | 'after'
  /** Whether the sandbox is lost too, so that the job cannot succeed any more. */
  readonly losesSandbox: boolean
}

/** Returns whether the worker was killed between its write of the log and the end of the row, and what went wrong. */
async function crash(
  fixture: Fixture,
  { at, when, losesSandbox }: Crash,
): Promise<{ readonly isBetween: boolean; readonly failures: readonly string[] }> {
  const { harness, healthy, clockOffset } = fixture
  const job = await prepareLarge(fixture)
  const name = `victim-${when}-${at}`
  const victim = killablePorts(harness.manualPorts, at, when, (verb) => harness.history.add({ type: 'killed', worker: name, at: verb }))
  await work(fixture, victim, name)
  const isBetween = victim.calls.includes('events.append') && victim.isKilled && !(await harness.hasEnded(job))
  const reader = await follow(harness, job)
  await reader.caughtUp()
  if (losesSandbox) for (const id of harness.platform.alive.keys()) await harness.platform.kill(id)
  clockOffset.ms += LEASE_MS + 1_000
  await settle(harness, healthy, clockOffset, [job])
  await harness.observe(job)
  const sawDone = await reader.end()
  return { isBetween, failures: sawDone ? [] : [`a reader of ${job.execution} saw no end`] }
}

/** Kills a worker between its write of the last events and the end of the row, with and without its sandbox, while a client follows the events. */
export const crashAtEnd: Scenario = {
  name: 'crash-at-end',
  thresholds: ['D-30'],
  async run({ scale, log }) {
    const fixture = await startFixture()
    const { harness, healthy, clockOffset, finished } = fixture
    const failures: string[] = []
    let between = 0
    try {
      const points = await callsAtEnd(fixture)
      for (let round = 0; round < Math.max(1, Math.round(RUNS * scale)); round++)
        for (const at of points)
          for (const when of ['before', 'after'] as const)
            for (const losesSandbox of [true, false]) {
              const result = await crash(fixture, { at, when, losesSandbox })
              failures.push(...result.failures)
              if (result.isBetween) between += 1
              if (finished.length >= BETWEEN_SWEEPS) await sweep(harness, healthy, clockOffset, finished.splice(0))
            }
      await sweep(harness, healthy, clockOffset, finished)
      const ended = new Set(harness.history.entries.flatMap((entry) => (entry.type === 'observed' ? [entry.status] : [])))
      if (between === 0) failures.push('no worker was killed between the log and the end of the row')
      if (ended.size < 2) failures.push('every job ended the same way')
      log(`crash-at-end: ${between} kills between the log and the end of the row`)
      return { histories: [harness.history], failures, figures: { kills_before_end: between } }
    } finally {
      await harness.stop()
    }
  },
}
