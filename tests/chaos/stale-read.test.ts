import { afterAll, beforeAll, expect, it } from 'vitest'
import { LEASE_MS } from '../../services/jobs/lease.ts'
import { checkHistory } from './check-history.ts'
import { prepare, startFixture, type Fixture } from './scenarios/worker-crashes.ts'
import { settle } from './scenarios/settle.ts'
import { hookPorts, type Ports } from './harness/killable-ports.ts'
import { createWorker } from './harness/worker.ts'
import type { Job } from './history.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
})
afterAll(() => fixture.harness.stop())

/** Ports that pause their worker at the first call of this name. */
function pauseBefore(ports: Ports, verb: string): { readonly ports: Ports; readonly reached: Promise<void>; release(): void } {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const before = async (_number: number, called: string): Promise<void> => {
    if (called !== verb) return
    reached.resolve()
    await gate.promise
  }
  return { ports: hookPorts(ports, { before }), reached: reached.promise, release: () => gate.resolve() }
}

/** Asserts that the second worker resumed the execution and fenced the event log with its first event. */
async function expectResumed(job: Job): Promise<void> {
  const { harness, healthy, clockOffset } = fixture
  await settle(harness, healthy, clockOffset, [job])
  await harness.observe(job)
  expect(checkHistory(harness.history.entries).violations).toEqual([])
  const batches = harness.history.entries.filter((entry) => entry.type === 'batch' && entry.execution === job.execution)
  expect(batches[0]).toMatchObject({ firstSeq: 1, events: 1, fence: 2 })
}

it.each([
  ['was without a lease', 'live', 'executions.acquireLease'],
  ['had the lease of a worker that had not started the code', 'warm', 'sandboxes.claim'],
] as const)(
  'resumes an execution that another worker started between read and lease; the row that it read %s',
  async (_, setting, before) => {
    const { harness, clockOffset, clock } = fixture
    const { container } = await prepare(fixture, setting)
    // Longer than the time for which events are buffered.
    const job = await harness.accept(container, { pauseMs: 50, now: clock.now() })
    const message = harness.manualQueue.receive()
    if (message === undefined) throw new Error('Nothing was sent')
    // The container state in the message is out of date by then.
    clockOffset.ms += 5_000
    const work = (name: string, ports: Ports) => createWorker({ name, ports, history: harness.history, clock }).handle(message)
    const starting = pauseBefore(harness.manualPorts, before)
    const late = pauseBefore(starting.ports, 'events.append')
    const stuck = work('stuck', late.ports)
    await starting.reached
    // It has read the execution's row and decides from that read.
    const early = pauseBefore(harness.manualPorts, 'containers.get')
    const reader = work('reader', early.ports)
    await early.reached
    starting.release()
    await late.reached
    clockOffset.ms += LEASE_MS + 1_000
    early.release()
    await reader
    late.release()
    await stuck
    await expectResumed(job)
    expect(harness.history.entries.filter((entry) => entry.type === 'ran' && entry.execution === job.execution)).toHaveLength(2)
  },
)

it('trusts the rows, not the message, when another worker has leased the execution since the message was sent', async () => {
  const { harness, clockOffset, clock } = fixture
  const { container } = await prepare(fixture, 'live')
  const job = await harness.accept(container, { pauseMs: 50, now: clock.now() })
  const message = harness.manualQueue.receive()
  if (message?.queue !== 'executions' || message.body.type !== 'execution.step') throw new Error('No step was asked for')
  const late = pauseBefore(harness.manualPorts, 'events.append')
  const stuck = createWorker({ name: 'stuck', ports: late.ports, history: harness.history, clock }).handle(message)
  await late.reached
  clockOffset.ms += LEASE_MS + 1_000
  // A message that claims to be current: no worker has leased the execution and the queue is empty.
  const seen = {
    at: clock.now(),
    container: (await harness.reliablePorts.table.containers.get(container.tenant, container.id)) ?? container,
  }
  await createWorker({ name: 'resuming', ports: harness.manualPorts, history: harness.history, clock }).handle({
    ...message,
    body: { ...message.body, seen },
  })
  late.release()
  await stuck
  await expectResumed(job)
})

it('reads no row before the start when the message carries current state and the process has counted the tenant before', async () => {
  const { harness, healthy, clock } = fixture
  const { container } = await prepare(fixture, 'live')
  const from = harness.history.entries.length
  const job = await harness.accept(container, { now: clock.now() })
  const message = harness.manualQueue.receive()
  if (message === undefined) throw new Error('Nothing was sent')
  await healthy.handle(message)
  await harness.observe(job)
  const verbs = harness.history.entries
    .slice(from)
    .flatMap((entry) => (entry.type === 'call' && entry.worker === 'healthy' ? [entry.verb] : []))
  // The slot of the tenant is requested beside the lease.
  expect(verbs.slice(0, 2).toSorted()).toEqual(['executions.acquireLease', 'sharedRows.replace'])
  const untilStart = verbs.slice(0, verbs.indexOf('link PUT /executions'))
  expect(untilStart.filter((verb) => verb.endsWith('.get'))).toEqual([])
})
