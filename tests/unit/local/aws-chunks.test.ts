import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeAwsChunks } from '../../emulators/s3/aws-chunks.ts'

async function* pieces(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted((a, b) => a - b)
  for (const [index, place] of places.slice(1).entries()) yield bytes.subarray(places[index], place)
}

async function decode(
  bytes: Buffer,
  cuts: readonly number[] = [],
): Promise<{ readonly body: Buffer; readonly trailers: Record<string, string> }> {
  const trailers: Record<string, string> = {}
  const chunks: Uint8Array[] = []
  for await (const chunk of decodeAwsChunks(pieces(bytes, cuts), (name, value) => (trailers[name] = value))) chunks.push(Buffer.from(chunk))
  return { body: Buffer.concat(chunks), trailers }
}

const encode = (chunks: readonly Uint8Array[], trailers: readonly string[]): Buffer =>
  Buffer.concat([
    ...chunks.flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
    Buffer.from(`0\r\n${trailers.map((trailer) => `${trailer}\r\n`).join('')}\r\n`),
  ])

describe('a body in aws-chunks', () => {
  it('is the same for every split of the bytes', async () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 12 }), async (chunks, cuts) => {
        const { body, trailers } = await decode(encode(chunks, ['x-amz-checksum-crc32:AAAAAA==']), cuts)
        expect(body.equals(Buffer.concat(chunks))).toBe(true)
        expect(trailers).toEqual({ 'x-amz-checksum-crc32': 'AAAAAA==' })
      }),
    )
  })

  it('that ends early is refused', async () => {
    const whole = encode([Buffer.from('hello'), Buffer.from('world')], ['x-amz-checksum-crc32:AAAAAA=='])
    for (let length = 0; length < whole.length; length++) {
      await expect(decode(whole.subarray(0, length)), `cut at ${length}`).rejects.toMatchObject({ code: 'IncompleteBody' })
    }
  })

  it.each([
    'hello',
    'zz\r\nhello\r\n0\r\n\r\n',
    '5\r\nhelloX0\r\n\r\n',
    '5\r\nhello\r\n0\r\n\r\nmore\r\n',
    '-5\r\nhello\r\n0\r\n\r\n',
    `${'f'.repeat(9)}\r\n`,
  ])('%j is refused', async (text) => {
    await expect(decode(Buffer.from(text))).rejects.toMatchObject({ code: 'IncompleteBody' })
  })

  it('with an endless line is refused at a length limit', async () => {
    await expect(decode(Buffer.alloc(5_000, 'x'))).rejects.toMatchObject({ code: 'IncompleteBody' })
  })
})
