import { afterAll, beforeAll, expect, it } from 'vitest'
import { LEASE_MS } from '../../services/core/lease.ts'
import { checkHistory } from './check-history.ts'
import { prepare, startStand, type Stand } from './scenarios/deaths.ts'
import { settle } from './scenarios/settle.ts'
import { watchPorts, type Ports } from './world/killable.ts'
import { createWorker } from './world/worker.ts'
import type { Job } from './history.ts'

let stand: Stand
beforeAll(async () => {
  stand = await startStand()
})
afterAll(() => stand.world.stop())

/** Ports whose holder stands still at the first call of this name. */
function holdAt(ports: Ports, verb: string): { readonly ports: Ports; readonly held: Promise<void>; release(): void } {
  const held = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const before = async (_number: number, called: string): Promise<void> => {
    if (called !== verb) return
    held.resolve()
    await gate.promise
  }
  return { ports: watchPorts(ports, { before }), held: held.promise, release: () => gate.resolve() }
}

/** The second worker found the code running and read on: its own first event alone closes the log to the first one. */
async function expectReadOn(job: Job): Promise<void> {
  const { world, healthy, ahead } = stand
  await settle(world, healthy, ahead, [job])
  await world.see(job)
  expect(checkHistory(world.history.entries).found).toEqual([])
  const batches = world.history.entries.filter((entry) => entry.type === 'batch' && entry.execution === job.execution)
  expect(batches[0]).toMatchObject({ firstSeq: 1, events: 1, fence: 2 })
}

it.each([
  ['nobody had taken yet', 'live', 'executions.take'],
  ['another worker held and had not begun yet', 'warm', 'sandboxes.claim'],
] as const)('decides anew when the row that it read, which %s, has been begun before it gets the lease', async (_, setting, before) => {
  const { world, ahead, clock } = stand
  const { container } = await prepare(stand, setting)
  // Longer than events wait for company.
  const job = await world.accept(container, { pauseMs: 50, now: clock.now() })
  const letter = world.courier.take()
  if (letter === undefined) throw new Error('Nothing was sent')
  // What the letter says of the container is old by then.
  ahead.ms += 5_000
  const work = (name: string, ports: Ports) => createWorker({ name, ports, history: world.history, clock }).handle(letter)
  const beginning = holdAt(world.byHand, before)
  const late = holdAt(beginning.ports, 'events.append')
  const stuck = work('stuck', late.ports)
  await beginning.held
  // It has read the execution's row by then, and goes on with what it read.
  const early = holdAt(world.byHand, 'containers.get')
  const looked = work('looked', early.ports)
  await early.held
  beginning.release()
  await late.held
  ahead.ms += LEASE_MS + 1_000
  early.release()
  await looked
  late.release()
  await stuck
  await expectReadOn(job)
  expect(world.history.entries.filter((entry) => entry.type === 'ran' && entry.execution === job.execution)).toHaveLength(2)
})

it('goes by the rows when somebody has had the execution since its message was sent, whatever that says', async () => {
  const { world, ahead, clock } = stand
  const { container } = await prepare(stand, 'live')
  const job = await world.accept(container, { pauseMs: 50, now: clock.now() })
  const letter = world.courier.take()
  if (letter?.queue !== 'executions' || letter.message.type !== 'execution.step') throw new Error('No step was asked for')
  const late = holdAt(world.byHand, 'events.append')
  const stuck = createWorker({ name: 'told', ports: late.ports, history: world.history, clock }).handle(letter)
  await late.held
  ahead.ms += LEASE_MS + 1_000
  // As if it had been sent this moment: nobody has had the execution, and the container has nothing to wait for.
  const seen = { at: clock.now(), container: (await world.clean.table.containers.get(container.tenant, container.id)) ?? container }
  await createWorker({ name: 'told again', ports: world.byHand, history: world.history, clock }).handle({
    ...letter,
    message: { ...letter.message, seen },
  })
  late.release()
  await stuck
  await expectReadOn(job)
})

it('begins without a look at the rows when the message says all', async () => {
  const { world, healthy, clock } = stand
  const { container } = await prepare(stand, 'live')
  const from = world.history.entries.length
  const job = await world.accept(container, { now: clock.now() })
  const letter = world.courier.take()
  if (letter === undefined) throw new Error('Nothing was sent')
  await healthy.handle(letter)
  await world.see(job)
  const verbs = world.history.entries
    .slice(from)
    .flatMap((entry) => (entry.type === 'call' && entry.worker === 'healthy' ? [entry.verb] : []))
  expect(verbs.slice(0, 2)).toEqual(['executions.take', 'link PUT /executions'])
  expect(verbs.filter((verb) => verb.endsWith('.get'))).toEqual([])
})
