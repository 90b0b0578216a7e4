import { array, assert, asyncProperty, nat, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLines } from '../../../services/adapters/supervisor-client/lines.ts'

async function* pieces(text: string, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let rest = Buffer.from(text)
  for (const size of sizes) {
    yield rest.subarray(0, size)
    rest = rest.subarray(size)
  }
  yield rest
}
const roomy = { maxLineBytes: 1_000_000, maxTotalBytes: 1_000_000 }
const collect = async (stream: AsyncIterable<Uint8Array>, caps = roomy): Promise<string[]> => {
  const lines: string[] = []
  for await (const line of readLines(stream, caps)) lines.push(line.toString())
  return lines
}

describe('lines of a stream', () => {
  it('are the same for every split of the bytes', async () => {
    await assert(
      asyncProperty(array(string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ''))), array(nat(20)), async (lines, sizes) => {
        expect(await collect(pieces(lines.map((line) => `${line}\n`).join(''), sizes))).toEqual(lines.filter((line) => line !== ''))
      }),
    )
  })

  it('omit an unfinished last line', async () => {
    expect(await collect(pieces('one\ntwo', [2]))).toEqual(['one'])
  })

  it('are limited to the maximum line length, finished or not', async () => {
    const caps = { maxLineBytes: 5, maxTotalBytes: 1_000 }
    expect(await collect(pieces('12345\n12345\n', [1, 1, 6]), caps)).toEqual(['12345', '12345'])
    await expect(collect(pieces('123456\n', []), caps)).rejects.toMatchObject({ code: 'protocol' })
    await expect(collect(pieces('123456', [3]), caps)).rejects.toMatchObject({ code: 'protocol' })
    await expect(collect(pieces('123456\n', [4]), caps)).rejects.toMatchObject({ code: 'protocol' })
  })

  it('end at the maximum length of the stream', async () => {
    await expect(collect(pieces('1\n'.repeat(50), []), { maxLineBytes: 5, maxTotalBytes: 99 })).rejects.toThrow(/more than 99 bytes/)
  })
})
