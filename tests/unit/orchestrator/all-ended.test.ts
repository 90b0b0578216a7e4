import { expect, it } from 'vitest'
import { allEnded } from '../../../services/orchestrator/run/all-ended.ts'

it('tells a failure only when nothing is under way any more', async () => {
  const slow = Promise.withResolvers<number>()
  let told: unknown = null
  const all = allEnded([Promise.reject(new Error('one failed')), slow.promise]).catch((error: unknown) => (told = error))
  await new Promise((resolve) => setImmediate(resolve))
  expect(told).toBeNull()
  slow.resolve(2)
  await all
  expect(told).toEqual(new Error('one failed'))
  expect(await allEnded([Promise.resolve(1), slow.promise])).toEqual([1, 2])
})
