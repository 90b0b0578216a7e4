import { describe, expect, it } from 'vitest'
import { FramePieces, RequestPieces, type Pieces } from '../../../services/http/connection-pieces.ts'
import { seeded } from '../../support/seeded.ts'

/** The pieces of all messages, which arrive in parts of 1 to `most` bytes; each piece as the first and the last byte of it in the whole. */
function piecesOf(pieces: Pieces, bytes: Buffer, partLength: () => number): readonly (readonly [number, number])[] {
  const taken: [number, number][] = []
  for (let start = 0; start < bytes.length;) {
    const end = Math.min(bytes.length, start + partLength())
    while (start < end) {
      const length = pieces.next(bytes.subarray(start, end))
      taken.push([start, start + length - 1])
      start += length
    }
  }
  return taken
}

/** Messages whose first bytes are in one piece with an earlier message. */
function joined(messages: readonly Buffer[], pieces: Pieces, partLength: () => number): number {
  const ends = messages.reduce<number[]>((all, { length }) => [...all, (all.at(-1) ?? 0) + length], [])
  const taken = piecesOf(pieces, Buffer.concat(messages), partLength)
  return ends.slice(0, -1).filter((end) => taken.some(([first, last]) => first < end && last >= end)).length
}

function frame(length: number, isMasked: boolean): Buffer {
  const mask = isMasked ? 0x80 : 0
  const head =
    length < 126
      ? Buffer.from([0x81, mask | length])
      : length < 65_536
        ? Buffer.from([0x81, mask | 126, length >> 8, length & 255])
        : Buffer.from([0x81, mask | 127, 0, 0, 0, 0, 0, length >> 16, (length >> 8) & 255, length & 255])
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), Buffer.alloc(length, 0x81)])
}

describe('pieces of a connection', () => {
  const random = seeded(3)
  for (const most of [1, 2, 5, 30, 1_000, 200_000])
    it(`have the beginning of one frame at most, in parts of up to ${most} bytes`, () => {
      const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]
      for (let round = 0; round < 10; round++) {
        const frames = Array.from({ length: 12 }, () => frame(lengths[Math.floor(random() * lengths.length)] ?? 0, random() < 0.7))
        expect(joined(frames, new FramePieces(), () => 1 + Math.floor(random() * most))).toBe(0)
      }
    })

  it('have the beginning of one request at most', () => {
    const heads = Array.from({ length: 50 }, (_, index) => Buffer.from(`GET /${'a'.repeat(index % 7)} HTTP/1.1\r\nhost: a\r\n\r\n`))
    for (let round = 0; round < 50; round++) expect(joined(heads, new RequestPieces(), () => 1 + Math.floor(random() * 60))).toBe(0)
  })

  it('have no more than the body of a known length, whatever is in it', () => {
    const pieces = new RequestPieces()
    const head = 'POST / HTTP/1.1\r\ncontent-length: 12\r\n\r\n'
    const bytes = Buffer.from(`${head}\r\n\r\n\r\n\r\nabcdGET / HTTP/1.1\r\n\r\n`)
    expect(pieces.next(bytes)).toBe(head.length)
    pieces.expectBody(12)
    expect(pieces.next(bytes.subarray(head.length, head.length + 3))).toBe(3)
    expect(pieces.next(bytes.subarray(head.length + 3))).toBe(9)
    expect(pieces.next(bytes.subarray(head.length + 12))).toBe(bytes.length - head.length - 12)
  })
})
