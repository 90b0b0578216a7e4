import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { LEASE_MS } from '../../services/jobs/lease.ts'
import { hasEnded, isPaused, type Execution } from '../../services/model/executions/execution.ts'
import { newId } from '../../services/model/ids.ts'
import { acceptExecution } from '../../services/operations/executions/accept-execution.ts'
import { requestResume } from '../../services/operations/sandboxes/request-resume.ts'
import { crashingWorker, type CrashingWorker } from '../support/crashing-worker.ts'
import { executionRow } from '../support/rows.ts'
import type { RunBench } from '../support/run-bench.ts'
import { startSuspendingBench, type SuspendingBench } from './suspending-bench.ts'

/** `npm run test:gvisor -- --long` kills at every call, before and after it; without, at every third one. */
const STEP = process.env['CELLBLOCK_LONG_CALLS'] === '1' ? 1 : 3

let suspending: SuspendingBench
let bench: RunBench
beforeAll(async () => {
  suspending = await startSuspendingBench({ image: inject('sandboxImage') })
  bench = suspending.bench
}, 900_000)
afterAll(() => bench.stop())

/** Says that it starts, and counts until the file is there. */
const COUNTS = 'echo start; i=0; while [ ! -e stop ]; do i=$((i+1)); echo $i; sleep 0.02; done'
const linesTo = (count: number): string => ['start', ...Array.from({ length: count }, (_, index) => String(index + 1)), ''].join('\n')

async function acceptCommand(containerId: string): Promise<string> {
  const { subject, responseId, onError, storeHistory, metadata, publicUrl } = executionRow()
  const id = newId('command')
  const source = { kind: 'command', argv: ['bash', '-c', COUNTS], stdin: null, hasOpenInput: false, pty: null, isBackground: true } as const
  const wanted = {
    tenant: bench.tenant,
    containerId,
    id,
    subject,
    responseId,
    timeoutSeconds: 600,
    onError,
    storeHistory,
    metadata,
    publicUrl,
  }
  await acceptExecution(bench.storage, { ...wanted, source }, bench.deps.clock.now())
  return id
}

const rowOf = async (id: string): Promise<Execution> => {
  const row = await bench.storage.table.executions.get(bench.tenant, id)
  if (row === null) throw new Error('There is no such command')
  return row
}

const lastEventOf = async (id: string): Promise<number> =>
  (await bench.storage.table.events.last({ kind: 'execution', tenant: bench.tenant, id }))?.events.at(-1)?.seq ?? -1

/** Starts a step, and waits until it has ended or recorded an event after this one. Returns the step. */
async function stepPast(
  containerId: string,
  id: string,
  after: number,
  worker?: CrashingWorker,
): Promise<{ readonly ended: Promise<void> }> {
  let isOver = false
  const ended = bench
    .step(containerId, id, worker?.deps)
    .catch(() => undefined)
    .finally(() => (isOver = true))
  await expect.poll(async () => isOver || (await lastEventOf(id)) > after).toBe(true)
  return { ended }
}

/** The same with workers that do not die, until the sandbox has the command and a worker reads its events. */
async function attach(containerId: string, id: string): Promise<{ readonly ended: Promise<void> }> {
  for (let tries = 0; tries < 5; tries++) {
    const before = await lastEventOf(id)
    const step = await stepPast(containerId, id, before)
    if ((await lastEventOf(id)) > before) return step
    await step.ended
    bench.ahead += LEASE_MS + 1_000
  }
  throw new Error(`No worker reads the events of ${id}: ${JSON.stringify(await rowOf(id))}`)
}

/** A worker dies at this call while it starts the command and leaves it to the resumption, and another one at the same call while it continues it. */
async function dieTwice(containerId: string, at: number, when: 'before' | 'after'): Promise<readonly boolean[]> {
  const id = await acceptCommand(containerId)
  const [first, second] = [crashingWorker(bench.storage, at, when), crashingWorker(bench.storage, at, when)]
  const begun = await stepPast(containerId, id, -1, first)
  if (first.hasCrashed) await begun.ended
  if (first.hasCrashed) bench.ahead += LEASE_MS + 1_000
  const reading = first.hasCrashed ? await attach(containerId, id) : begun
  const suspended = await suspending.suspend(containerId)
  expect([at, when, suspended.state]).toEqual([at, when, 'suspended'])
  await reading.ended
  if (first.hasCrashed) bench.ahead += LEASE_MS + 1_000
  expect(
    await requestResume({ table: bench.storage.table, queue: bench.storage.queue, clock: bench.deps.clock }, bench.tenant, suspended.id),
  ).toBe(true)
  await suspending.place({ v: 1, type: 'sandbox.start', sandboxId: suspended.id })
  const continued = await stepPast(containerId, id, await lastEventOf(id), second)
  if (second.hasCrashed) await continued.ended
  if (second.hasCrashed) bench.ahead += LEASE_MS + 1_000
  if (second.hasCrashed) await attach(containerId, id)
  expect((await bench.run(containerId, 'open("stop", "w").close()')).status).toBe('succeeded')
  // What is left of a dead worker would wait for the end of its step.
  await expect.poll(async () => second.hasCrashed || hasEnded((await rowOf(id)).status)).toBe(true)
  for (let tries = 0; tries < 5 && !hasEnded((await rowOf(id)).status); tries++) {
    bench.ahead += LEASE_MS + 1_000
    await bench.step(containerId, id)
  }
  const row = await rowOf(id)
  const { status } = row
  const stdout = row.result?.stdout ?? ''
  expect([at, when, status, stdout]).toEqual([at, when, 'succeeded', linesTo(stdout.split('\n').length - 2)])
  expect(isPaused(row)).toBe(false)
  await bench.run(containerId, 'import os; os.remove("stop")')
  return [first.hasCrashed, second.hasCrashed]
}

it.each(['before', 'after'] as const)(
  'a command that is suspended while it runs ends once with all of its output, if a worker dies %s any call',
  async (when) => {
    await bench.warm()
    const { id } = await bench.newContainer()
    await bench.run(id, '1')
    for (let at = when === 'before' ? 0 : 1; (await dieTwice(id, at, when)).some(Boolean); at += STEP);
  },
  900_000,
)
