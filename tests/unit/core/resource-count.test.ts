import { beforeEach, expect, it } from 'vitest'
import type { SharedRowState, SharedRowStore } from '../../../services/ports/shared-row-store.ts'
import { ResourceCount } from '../../../services/operations/tenancy/resource-count.ts'

let row: SharedRowState<object>
let now: number
/** What the tenant really has. */
let held: number
let counts: number
let isDown: boolean
beforeEach(() => {
  row = { revision: 0, values: null }
  ;[now, held, counts, isDown] = [1_000, 0, 0, false]
})

const sharedRows: Pick<SharedRowStore, 'get' | 'replace'> = {
  get: async <Values extends object>() => {
    if (isDown) throw new Error('down')
    return row as SharedRowState<Values>
  },
  replace: async (_tenant, _name, { values, ...seen }) => {
    if (isDown) throw new Error('down')
    if (seen.revision !== row.revision) return false
    row = { revision: row.revision + 1, values }
    return true
  },
}
const processOf = (limit: number, countMs = 0): ResourceCount =>
  new ResourceCount({
    sharedRows,
    clock: { now: () => now },
    name: 'things',
    limitOf: async () => limit,
    count: async () => {
      counts += 1
      now += countMs
      return held
    },
  })
/** Takes until a refusal, and has what was taken. */
async function fill(things: ResourceCount): Promise<number> {
  let taken = 0
  while (await things.take('t')) {
    held += 1
    taken += 1
  }
  return taken
}

it('admits as much as the limit, over all processes', async () => {
  const left = processOf(5)
  const right = processOf(5)
  for (const things of [left, right, left]) {
    expect(await things.take('t')).toBe(true)
    held += 1
  }
  expect(await fill(right)).toBe(2)
  expect(await left.take('t')).toBe(false)
  expect(await left.admits('t')).toBe(false)
})

it('admits again what was removed, and counts only at the limit', async () => {
  const things = processOf(5_000)
  expect(await fill(things)).toBe(5_000)
  expect(counts).toBe(2)
  held = 4_000
  expect(await things.admits('t', 1_000)).toBe(true)
  expect(await fill(things)).toBe(1_000)
  expect(await things.admits('t')).toBe(false)
})

it('counts what a tenant had before its first check', async () => {
  held = 4
  expect(await processOf(5).bound('t')).toBe(4)
  expect(await fill(processOf(5))).toBe(1)
})

it('counts at most a tenth of the time', async () => {
  const things = processOf(2, 500)
  held = 2
  expect(await things.take('t')).toBe(false)
  expect(counts).toBe(1)
  held = 0
  expect(await things.take('t')).toBe(false)
  now += 5_000
  expect(await things.take('t')).toBe(true)
})

it('records more than the limit, and refuses from then on', async () => {
  const things = processOf(100)
  held = 150
  await things.add('t', 150)
  expect(await things.admits('t')).toBe(false)
  expect(await things.bound('t')).toBe(150)
})

it('passes every check while the first count takes long', async () => {
  let end: (held: number) => void = () => undefined
  const count = () => new Promise<number>((resolve) => (end = resolve))
  const clock = { now: () => now }
  const things = new ResourceCount({ sharedRows, clock, name: 'things', limitOf: async () => 1, count, maxWaitMs: 1 })
  expect([await things.take('t'), await things.admits('t'), await things.bound('t')]).toEqual([true, true, 0])
  end(1)
  await expect.poll(() => things.bound('t')).toBe(1)
  expect(await things.take('t')).toBe(false)
})

it('passes every check while storage is unavailable', async () => {
  const things = processOf(1)
  isDown = true
  expect([await things.take('t'), await things.take('t'), await things.admits('t')]).toEqual([true, true, true])
})
