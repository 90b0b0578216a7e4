import { expect, it } from 'vitest'
import { BoundedCache, readThrough } from '../../../services/model/bounded-cache.ts'

it('forgets the entry that was used least recently', () => {
  const cache = new BoundedCache<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  expect(cache.get('a')).toBe(1)
  cache.set('c', 3)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3])
  cache.set('c', 4)
  expect([cache.get('a'), cache.get('c')]).toEqual([1, 4])
  expect(cache.getOrCreate('a', () => 9)).toBe(1)
  expect(cache.getOrCreate('d', () => 9)).toBe(9)
  expect(cache.get('c')).toBeUndefined()
})

it('ends an entry at its time', () => {
  const cache = new BoundedCache<string, number>(2)
  cache.set('a', 1, 100)
  expect([cache.get('a', 99), cache.get('a', 100), cache.get('a', 99)]).toEqual([1, undefined, undefined])
})

it('shares a read among calls at the same time and keeps no failed one', async () => {
  const cache = new BoundedCache<string, Promise<number>>(2)
  let reads = 0
  let isDown = true
  const read = async (): Promise<number> => {
    reads += 1
    if (isDown) throw new Error('down')
    return reads
  }
  const call = (now: number): Promise<number> => readThrough(cache, 'a', { now, until: now + 10, read })
  const failed = await Promise.allSettled([call(0), call(0)])
  expect([failed.map(({ status }) => status), reads]).toEqual([['rejected', 'rejected'], 1])
  isDown = false
  expect(await Promise.all([call(1), call(2)])).toEqual([2, 2])
  expect(await call(11)).toBe(3)
})
