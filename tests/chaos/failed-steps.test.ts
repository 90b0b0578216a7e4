import { afterAll, beforeAll, expect, it } from 'vitest'
import { LEASE_MS } from '../../services/core/lease.ts'
import { checkHistory } from './check-history.ts'
import type { Job } from './history.ts'
import { prepare, startStand, type Setting, type Stand } from './scenarios/deaths.ts'
import type { Letter } from './world/courier.ts'
import { mortal, watchPorts, type Ports } from './world/killable.ts'
import { createWorker } from './world/worker.ts'

let stand: Stand
beforeAll(async () => {
  stand = await startStand()
})
afterAll(() => stand.world.stop())

async function acceptIn(setting: Setting): Promise<{ readonly job: Job; readonly letter: Letter; readonly next: () => Promise<Job> }> {
  const { container, accept } = await prepare(stand, setting)
  const job = await accept()
  return { job, letter: nextLetter(), next: () => stand.world.accept(container, { now: stand.clock.now() }) }
}
function nextLetter(): Letter {
  const letter = stand.world.courier.take()
  if (letter === undefined) throw new Error('Nothing was sent')
  return letter
}
const work = (ports: Ports, letter: Letter): Promise<void> =>
  createWorker({ name: 'unlucky', ports, history: stand.world.history, clock: stand.clock }).handle(letter)
const rowOf = ({ tenant, execution }: Job) => stand.world.clean.table.executions.get(tenant, execution)

/** The table fails once, at the first call of this name. */
function failingOnce(verb: string): Ports {
  let hasFailed = false
  const before = (_number: number, called: string): void => {
    if (called !== verb || hasFailed) return
    hasFailed = true
    throw new Error('The table had a fault')
  }
  return watchPorts(stand.world.byHand, { before })
}

it.each([
  ['before the code was handed over', 'cold', 'sandboxes.create'],
  ['after the code had ended', 'live', 'files.put'],
] as const)('lets another one begin at once when it fails %s', async (_, setting, verb) => {
  const { world, healthy } = stand
  const { job, letter } = await acceptIn(setting)
  await work(failingOnce(verb), letter)
  expect(await rowOf(job)).toMatchObject({ fence: 1, lease: null })
  // No time passes by the clock: no lease has run out.
  for (let next = world.courier.take(); next !== undefined; next = world.courier.take()) await healthy.handle(next)
  expect((await rowOf(job))?.status).toBe('succeeded')
  await world.see(job)
  expect(checkHistory(world.history.entries).found).toEqual([])
})

it('reads the end that lies in the sandbox, however late it comes', async () => {
  const { world, healthy, ahead } = stand
  const { job, letter } = await acceptIn('live')
  const dying = mortal(world.byHand, Infinity, 'before', () => undefined)
  const before = (_number: number, verb: string): void => void (verb === 'files.put' && dying.kill())
  await work(watchPorts(dying.ports, { before }), letter).catch(() => undefined)
  expect(world.history.entries.some((entry) => entry.type === 'handed' && entry.execution === job.execution)).toBe(true)
  const row = await rowOf(job)
  expect(row?.status).toBe('running')
  ahead.ms += LEASE_MS + (row?.timeoutSeconds ?? 0) * 1000 + 60_000
  await healthy.handle(letter)
  expect((await rowOf(job))?.status).toBe('succeeded')
  await world.see(job)
  expect(checkHistory(world.history.entries).found).toEqual([])
})

it('nudges the next one when the answer to taking its own off the queue got lost', async () => {
  const { world, healthy } = stand
  const { job, letter, next } = await acceptIn('live')
  const second = await next()
  const { containers } = world.byHand.table
  const dequeue: typeof containers.dequeue = async (...args) => {
    await containers.dequeue(...args)
    return containers.dequeue(...args)
  }
  await work({ ...world.byHand, table: { ...world.byHand.table, containers: { ...containers, dequeue } } }, letter)
  expect((await rowOf(job))?.status).toBe('succeeded')
  await healthy.handle(nextLetter())
  expect((await rowOf(second))?.status).toBe('succeeded')
})
