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

beforeEach(async () => {
  const { sandboxes } = fixture.storage.table
  for (const { id } of await sandboxes.all()) await sandboxes.remove(id)
  asked = {}
  refused = []
  shares = new ProcessorShares({
    table: fixture.storage.table,
    driver: {
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
const balanced = async (): Promise<Record<string, number>> => {
  asked = {}
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
