import { expect, it } from 'vitest'
import type { SharedRowState, SharedRowStore } from '../../../services/ports/shared-row-store.ts'
import { SharedRow } from '../../../services/operations/tenancy/shared-row.ts'

interface Counter {
  readonly count: number
}
const EMPTY: Counter = { count: 0 }
const increment = ({ count }: Counter) => ({ values: { count: count + 1 }, result: count + 1 })

/** One row, with the calls that reached it. */
function memoryQuotas() {
  let row: SharedRowState<object> = { revision: 0, values: null }
  const calls: string[] = []
  const sharedRows: Pick<SharedRowStore, 'get' | 'replace'> = {
    get: async <Values extends object>() => {
      calls.push('get')
      return row as SharedRowState<Values>
    },
    replace: async (_tenant, _name, { values, ...seen }) => {
      const isCurrent = seen.revision === row.revision
      calls.push(isCurrent ? 'replace' : 'refused')
      if (isCurrent) row = { revision: row.revision + 1, values }
      return isCurrent
    },
  }
  return { sharedRows, calls, process: () => new SharedRow<Counter>(sharedRows, 'counter', EMPTY) }
}

it('reads the row once while no other process writes it', async () => {
  const { calls, process } = memoryQuotas()
  const quota = process()
  for (const expected of [1, 2, 3]) expect(await quota.change('t', increment)).toBe(expected)
  expect(calls).toEqual(['get', 'replace', 'replace', 'replace'])
})

it('applies each change once when two processes write', async () => {
  const { calls, process } = memoryQuotas()
  const [left, right] = [process(), process()]
  const results: number[] = []
  for (let round = 0; round < 5; round++) results.push(await left.change('t', increment), await right.change('t', increment))
  expect(results).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(calls).toContain('refused')
  expect(await left.read('t')).toEqual({ count: 10 })
})

it('writes the changes that arrive during a write together', async () => {
  const { calls, process } = memoryQuotas()
  const quota = process()
  const results = await Promise.all([1, 2, 3, 4, 5].map(() => quota.change('t', increment)))
  expect(results).toEqual([1, 2, 3, 4, 5])
  expect(calls).toEqual(['get', 'replace', 'replace'])
})

it('reads the row again when a change would have no effect on the cached values', async () => {
  const { process } = memoryQuotas()
  const [left, right] = [process(), process()]
  await left.change('t', increment)
  await right.change('t', increment)
  const reset = (values: Counter) => ({ values: values.count === 2 ? EMPTY : values, result: null })
  await left.change('t', reset)
  expect(await right.read('t')).toEqual(EMPTY)
})

it('rejects the changes of a write that failed, and continues from the row', async () => {
  const { sharedRows } = memoryQuotas()
  let isDown = false
  const quota = new SharedRow<Counter>(
    { ...sharedRows, replace: async (...args) => (isDown ? Promise.reject(new Error('down')) : sharedRows.replace(...args)) },
    'counter',
    EMPTY,
  )
  await quota.change('t', increment)
  isDown = true
  await expect(quota.change('t', increment)).rejects.toThrow('down')
  isDown = false
  expect(await quota.change('t', increment)).toBe(2)
})
