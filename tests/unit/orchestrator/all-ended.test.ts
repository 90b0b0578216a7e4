import { expect, it } from 'vitest'
import { allEnded } from '../../../services/workers/run/transfer/all-ended.ts'

it('rejects only after every promise has settled', async () => {
  const slow = Promise.withResolvers<number>()
  let rejection: unknown = null
  const all = allEnded([Promise.reject(new Error('one failed')), slow.promise]).catch((error: unknown) => (rejection = error))
  await new Promise((resolve) => setImmediate(resolve))
  expect(rejection).toBeNull()
  slow.resolve(2)
  await all
  expect(rejection).toEqual(new Error('one failed'))
  expect(await allEnded([Promise.resolve(1), slow.promise])).toEqual([1, 2])
})
