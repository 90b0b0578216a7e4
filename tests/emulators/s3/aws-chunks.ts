import { S3Error } from './s3-error.ts'

const LINE_END = Buffer.from('\r\n')
/** Longest line of a chunk header or trailer, bytes. */
const MAX_LINE = 4096

/**
 * Undoes the `aws-chunked` encoding: `<hex length>[;extension]\r\n<bytes>\r\n … 0\r\n<trailer: value>\r\n … \r\n`. Trailers are handed over as they come.
 * Throws S3Error IncompleteBody when the body is cut off or malformed.
 */
export async function* decodeAwsChunks(
  body: AsyncIterable<Uint8Array>,
  onTrailer: (name: string, value: string) => void,
): AsyncGenerator<Uint8Array> {
  let buffered: Buffer = Buffer.alloc(0)
  let left = 0
  let state = 'size' as 'size' | 'data' | 'data-end' | 'trailers' | 'done'

  const takeLine = (): string | null => {
    const end = buffered.indexOf(LINE_END)
    if (end === -1) {
      if (buffered.length > MAX_LINE) throw malformed()
      return null
    }
    const line = buffered.toString('latin1', 0, end)
    buffered = buffered.subarray(end + LINE_END.length)
    return line
  }

  for await (const piece of body) {
    buffered = buffered.length === 0 ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength) : Buffer.concat([buffered, piece])
    for (;;) {
      if (state === 'data') {
        if (buffered.length === 0) break
        const chunk = buffered.subarray(0, left)
        buffered = buffered.subarray(chunk.length)
        left -= chunk.length
        if (left === 0) state = 'data-end'
        yield chunk
        continue
      }
      const line = takeLine()
      if (line === null) break
      if (state === 'data-end') {
        if (line !== '') throw malformed()
        state = 'size'
      } else if (state === 'size') {
        const size = /^([0-9a-fA-F]{1,8})(;.*)?$/.exec(line)?.[1]
        if (size === undefined) throw malformed()
        left = Number.parseInt(size, 16)
        state = left === 0 ? 'trailers' : 'data'
      } else if (state === 'trailers') {
        if (line === '') state = 'done'
        else {
          const colon = line.indexOf(':')
          if (colon === -1) throw malformed()
          onTrailer(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim())
        }
      } else throw malformed()
    }
  }
  if (state !== 'done') throw malformed()
}

const malformed = (): S3Error => new S3Error('IncompleteBody', 'The chunks of the body are cut off or malformed.')
