import { describe, expect, it } from 'vitest'
import { StreamText } from '../../../services/model/executions/events/stream-text.ts'
import { LIMITS } from '../../../services/model/limits.ts'

const { maxStreamHeadBytes: HEAD, maxStreamTailBytes: TAIL } = LIMITS
const textOf = (pieces: readonly string[]): StreamText => {
  const text = new StreamText()
  for (const piece of pieces) text.push(piece)
  return text
}

describe('the text of a stream in a result', () => {
  it.each([[[]], [['a', 'b']], [['x'.repeat(HEAD), 'y'.repeat(TAIL)]], [['x'.repeat(HEAD + TAIL)]]])(
    'is whole up to the bounds',
    (pieces) => {
      const text = textOf(pieces)
      expect([text.toString() === pieces.join(''), text.leftOut]).toEqual([true, 0])
    },
  )

  it.each([999, 16_384, 3_000_000])('has the head and the tail of a longer stream, in pieces of %i', (size) => {
    const whole = Array.from({ length: 300_000 }, (_, index) => `${index} `).join('')
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) => whole.slice(index * size, (index + 1) * size))
    const text = textOf(pieces)
    expect(text.toString() === whole.slice(0, HEAD) + whole.slice(-TAIL)).toBe(true)
    expect(text.leftOut).toBe(whole.length - HEAD - TAIL)
  })

  it('has no half of a character where it is cut', () => {
    const text = textOf(['x'.repeat(HEAD - 1), '😀'.repeat(TAIL)])
    expect(text.toString().isWellFormed()).toBe(true)
  })
})
