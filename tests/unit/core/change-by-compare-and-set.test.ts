import { expect, it } from 'vitest'
import { changeByCompareAndSet } from '../../../services/model/change-by-compare-and-set.ts'

it('applies the changes of thirty writers at the same time once each', async () => {
  let row = { revision: 0, count: 0 }
  const increment = (): Promise<number> =>
    changeByCompareAndSet(
      async () => {
        const seen = row
        await Promise.resolve()
        if (row.revision !== seen.revision) return undefined
        row = { revision: seen.revision + 1, count: seen.count + 1 }
        return row.count
      },
      () => new Error('exhausted'),
    )
  const results = await Promise.all(Array.from({ length: 30 }, increment))
  expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1))
})

it('ends with the error of the caller when every attempt was refused', async () => {
  let attempts = 0
  const refused = async (): Promise<undefined> => void (attempts += 1)
  await expect(changeByCompareAndSet(refused, () => new Error('too many writers'))).rejects.toThrow('too many writers')
  expect(attempts).toBe(40)
})
