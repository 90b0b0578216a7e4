import { describe, expect, it } from 'vitest'
import { truncateLosses } from '../../../services/workers/run/transfer/losses.ts'

const losses = (count: number) => Array.from({ length: count }, (_, i) => ({ what: `file ${i}`, reason: 'x'.repeat(1_000) }))

describe('truncateLosses', () => {
  it('names the losses that fit the row and counts the rest', () => {
    expect(truncateLosses(losses(3))).toEqual(losses(3))
    const few = truncateLosses(losses(500))
    expect(Buffer.byteLength(JSON.stringify(few))).toBeLessThan(32 * 1024)
    expect(few.at(-1)?.reason).toContain(`${500 - few.length + 1} more`)
  })
})
