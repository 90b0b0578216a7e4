import { beforeEach, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { Sandbox } from '../../../services/model/sandboxes/sandbox.ts'
import { newSandbox } from '../../../services/operations/sandboxes/new-sandbox.ts'
import { DriverError } from '../../../services/ports/sandbox-driver.ts'
import { ProcessorShares } from '../../../services/workers/place/processor-shares.ts'
import { ReconcileFixture } from './reconcile-fixture.ts'

const fixture = new ReconcileFixture()
const [many, few] = [newId('tenant'), newId('tenant')]
/** What the driver was asked for since the last question. */
let asked: Record<string, number>
let refused: readonly string[]
let shares: ProcessorShares
/** Processor time of each sandbox, ms. */
let used: Map<string, number>
/** Of the machine's processors, in the time between two calls. */
let share: number

beforeEach(async () => {
  const { sandboxes } = fixture.storage.table
  for (const { id } of await sandboxes.all()) await sandboxes.remove(id)
  asked = {}
  refused = []
  used = new Map()
  share = 1
  let machine = { used: 0, total: 0 }
  shares = new ProcessorShares({
    table: fixture.storage.table,
    clock: fixture.deps.clock,
    machine: () => (machine = { used: machine.used + share, total: machine.total + 1 }),
    driver: {
      processorMs: async (id) => used.get(id) ?? null,
      weigh: async (id, weight) => {
        if (refused.includes(id)) throw new DriverError('unavailable', `The engine refused ${id}.`)
        asked[id] = weight
      },
    },
  })
})

async function claimed(tenant: string, change: Partial<Sandbox> = {}): Promise<string> {
  const sandbox = newSandbox({ memoryTier: '1g', image: 'none', claimedBy: { tenant, containerId: newId('container') } }, fixture.now)
  await fixture.storage.table.sandboxes.create({ ...sandbox, state: 'claimed', ...change })
  return sandbox.id
}
/** What is asked for after so much time. */
const balanced = async (ms = 1_000): Promise<Record<string, number>> => {
  asked = {}
  fixture.now += ms
  await shares.balance()
  return asked
}

it('gives a tenant with several sandboxes the weight of one, and asks the engine only for what changes', async () => {
  const other = await claimed(few)
  const first = await claimed(many)
  expect(await balanced()).toEqual({})
  const second = await claimed(many)
  expect(await balanced()).toEqual({ [first]: 0.5, [second]: 0.5 })
  expect(await balanced()).toEqual({})
  const third = await claimed(many)
  expect(await balanced()).toEqual({ [first]: 0.25, [second]: 0.25, [third]: 0.25 })
  const fourth = await claimed(many)
  expect(await balanced()).toEqual({ [fourth]: 0.25 })
  for (const id of [second, third, fourth]) await fixture.storage.table.sandboxes.remove(id)
  expect(await balanced()).toEqual({ [first]: 1 })
  expect(asked).not.toHaveProperty(other)
})

it('counts only sandboxes that a tenant has, and weighs one again that was resumed', async () => {
  const first = await claimed(many)
  await claimed(many, { state: 'suspended' })
  await claimed(many, { state: 'ready', claimedBy: null })
  expect(await balanced()).toEqual({})
  const second = await claimed(many)
  expect(await balanced()).toEqual({ [first]: 0.5, [second]: 0.5 })
  const { sandboxes } = fixture.storage.table
  await sandboxes.move(second, { from: ['claimed'] }, { state: 'claimed', resumedAt: fixture.now + 1 })
  expect(await balanced()).toEqual({ [second]: 0.5 })
})

it('asks again for what the engine refused, and sets the others meanwhile', async () => {
  const sandboxes = [await claimed(many), await claimed(many), await claimed(many)]
  expect(await balanced()).toEqual(Object.fromEntries(sandboxes.map((id) => [id, 0.25])))
  const [first = '', second = '', third = ''] = sandboxes.toSorted()
  await fixture.storage.table.sandboxes.remove(third)
  refused = [first]
  await expect(balanced()).rejects.toThrow(`The engine refused ${first}.`)
  expect(asked).toEqual({ [second]: 0.5 })
  refused = []
  expect(await balanced()).toEqual({ [first]: 0.5 })
})

/** After so many ms in which each sandbox computed for so many. */
const allComputed = (ids: readonly string[], usedMs: number, ms: number): Promise<Record<string, number>> => {
  for (const id of ids) used.set(id, (used.get(id) ?? 0) + usedMs)
  return balanced(ms)
}
const computed = (id: string, usedMs: number, ms = 250): Promise<Record<string, number>> => allComputed([id], usedMs, ms)

it('lets code that computes for long weigh less than code that answers, until it has saved for another burst', async () => {
  const [busy, quiet] = [await claimed(many), await claimed(few)]
  used.set(quiet, 0)
  expect(await computed(busy, 0, 1_000)).toEqual({})
  expect(await computed(busy, 240)).toEqual({})
  expect(await computed(busy, 250)).toEqual({ [busy]: 1 / 64 })
  expect(await computed(busy, 250)).toEqual({})
  expect(await computed(busy, 0, 900)).toEqual({})
  expect(await computed(busy, 0, 100)).toEqual({ [busy]: 1 })
  // A fifth of a processor is less than what it saves.
  for (let second = 0; second < 20; second++) expect(await computed(busy, 199, 1_000)).toEqual({})
  expect(await computed(busy, 999, 1_000)).toEqual({ [busy]: 1 / 64 })
})

it('raises one weight of a tenant at a time because of credits, and those of others meanwhile', async () => {
  const ofMany = [await claimed(many), await claimed(many), await claimed(many)]
  const other = await claimed(few)
  const computeAll = (usedMs: number, ms: number): Promise<Record<string, number>> => allComputed([...ofMany, other], usedMs, ms)
  await computeAll(0, 1_000)
  expect(Object.keys(await computeAll(1_000, 250))).toHaveLength(4)
  const first = await computeAll(0, 1_000)
  expect(first).toMatchObject({ [other]: 1 })
  expect(Object.values(first).toSorted()).toEqual([0.25, 1])
  const [second, third] = [await computeAll(0, 250), await computeAll(0, 250)]
  expect({ ...first, ...second, ...third }).toEqual({ ...Object.fromEntries(ofMany.map((id) => [id, 0.25])), [other]: 1 })
  expect(await computeAll(0, 250)).toEqual({})
})

it('shares between tenants also what their sandboxes weigh without credits', async () => {
  const [first, second, other] = [await claimed(many), await claimed(many), await claimed(few)]
  const computeAll = (usedMs: number): Promise<Record<string, number>> => allComputed([first, second, other], usedMs, 1_000)
  expect(await computeAll(0)).toEqual({ [first]: 0.5, [second]: 0.5 })
  expect(await computeAll(1_000)).toEqual({ [first]: 1 / 128, [second]: 1 / 128, [other]: 1 / 64 })
})

it('lowers no weight while processors are idle, and raises it again', async () => {
  const busy = await claimed(many)
  share = 0.7
  expect(await computed(busy, 0, 1_000)).toEqual({})
  expect(await computed(busy, 1_000, 1_000)).toEqual({})
  share = 0.8
  expect(await computed(busy, 250)).toEqual({ [busy]: 1 / 64 })
  share = 0
  expect(await computed(busy, 250)).toEqual({})
  expect(await computed(busy, 0, 2_000)).toEqual({ [busy]: 1 })
})

it('weighs by claims alone where the host does not show the processor time', async () => {
  const first = await claimed(many)
  expect(await balanced()).toEqual({})
  const second = await claimed(many)
  expect(await balanced(10_000)).toEqual({ [first]: 0.5, [second]: 0.5 })
})
