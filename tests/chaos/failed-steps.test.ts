import { afterAll, beforeAll, expect, it } from 'vitest'
import { LEASE_MS } from '../../services/jobs/lease.ts'
import { checkHistory } from './check-history.ts'
import type { Job } from './history.ts'
import { prepare, startFixture, type Setting, type Fixture } from './scenarios/worker-crashes.ts'
import type { Message } from './harness/manual-queue.ts'
import { killablePorts, hookPorts, type Ports } from './harness/killable-ports.ts'
import { createWorker } from './harness/worker.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
})
afterAll(() => fixture.harness.stop())

async function acceptIn(setting: Setting): Promise<{ readonly job: Job; readonly message: Message; readonly next: () => Promise<Job> }> {
  const { container, accept } = await prepare(fixture, setting)
  const job = await accept()
  return { job, message: nextMessage(), next: () => fixture.harness.accept(container, { now: fixture.clock.now() }) }
}
function nextMessage(): Message {
  const message = fixture.harness.manualQueue.receive()
  if (message === undefined) throw new Error('Nothing was sent')
  return message
}
const work = (ports: Ports, message: Message): Promise<void> =>
  createWorker({ name: 'failing', ports, history: fixture.harness.history, clock: fixture.clock }).handle(message)
const rowOf = ({ tenant, execution }: Job) => fixture.harness.reliablePorts.table.executions.get(tenant, execution)

/** Ports that fail at the first call of the first name, then at the next call of the second one, and so on. */
function failingAt(verbs: readonly string[]): Ports {
  const left = [...verbs]
  const before = (_number: number, called: string): void => {
    if (called !== left[0]) return
    left.shift()
    throw new Error('The table failed')
  }
  return hookPorts(fixture.harness.manualPorts, { before })
}

it.each([
  ['before the code is submitted', 'cold', ['sandboxes.create']],
  ['after the code has ended', 'live', ['files.put']],
  ['and then two writes that release it', 'cold', ['sandboxes.create', 'executions.commit', 'executions.commit']],
] as const)('releases its lease at once when a step fails %s', async (_, setting, verbs) => {
  const { harness, healthy } = fixture
  const { job, message } = await acceptIn(setting)
  await work(failingAt(verbs), message)
  expect(await rowOf(job)).toMatchObject({ fence: 1, lease: null })
  // The clock does not advance, so no lease has expired.
  for (let next = harness.manualQueue.receive(); next !== undefined; next = harness.manualQueue.receive()) await healthy.handle(next)
  expect((await rowOf(job))?.status).toBe('succeeded')
  await harness.observe(job)
  expect(checkHistory(harness.history.entries).violations).toEqual([])
})

it('commits the result from the sandbox when it resumes long after the time limit', async () => {
  const { harness, healthy, clockOffset } = fixture
  const { job, message } = await acceptIn('live')
  const dying = killablePorts(harness.manualPorts, Infinity, 'before', () => undefined)
  const before = (_number: number, verb: string): void => void (verb === 'files.put' && dying.kill())
  await work(hookPorts(dying.ports, { before }), message).catch(() => undefined)
  expect(harness.history.entries.some((entry) => entry.type === 'submitted' && entry.execution === job.execution)).toBe(true)
  const row = await rowOf(job)
  expect(row?.status).toBe('running')
  clockOffset.ms += LEASE_MS + (row?.timeoutSeconds ?? 0) * 1000 + 60_000
  await healthy.handle(message)
  expect((await rowOf(job))?.status).toBe('succeeded')
  await harness.observe(job)
  expect(checkHistory(harness.history.entries).violations).toEqual([])
})

it('notifies the next queue head when the reply to its dequeue was lost', async () => {
  const { harness, healthy } = fixture
  const { job, message, next } = await acceptIn('live')
  const second = await next()
  const { containers } = harness.manualPorts.table
  const dequeue: typeof containers.dequeue = async (...args) => {
    await containers.dequeue(...args)
    return containers.dequeue(...args)
  }
  await work({ ...harness.manualPorts, table: { ...harness.manualPorts.table, containers: { ...containers, dequeue } } }, message)
  expect((await rowOf(job))?.status).toBe('succeeded')
  await healthy.handle(nextMessage())
  expect((await rowOf(second))?.status).toBe('succeeded')
})
