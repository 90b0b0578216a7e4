import { describe, expect, it } from 'vitest'
import { pooledRandom } from '../../../services/model/random.ts'

describe('random bytes from the pool', () => {
  it('never repeat, also when the pool is filled again', () => {
    const sizes = Array.from({ length: 3_000 }, (_, at) => 8 + (at % 17))
    const taken = sizes.map(pooledRandom)
    expect(taken.map((bytes) => bytes.length)).toEqual(sizes)
    // The first eight bytes of each: equal ones would be a repetition, as chance makes them equal once in 10^12 runs.
    expect(new Set(taken.map((bytes) => bytes.toString('hex', 0, 8))).size).toBe(sizes.length)
  })

  it('belong to the caller', () => {
    const first = pooledRandom(16)
    const second = pooledRandom(16)
    const before = second.toString('hex')
    first.fill(0)
    expect(second.toString('hex')).toBe(before)
  })
})
