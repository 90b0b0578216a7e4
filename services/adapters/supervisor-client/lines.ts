import type { ByteStream } from '../../model/byte-stream.ts'
import { SupervisorError } from '../../ports/supervisor.ts'

export interface LineCaps {
  /** One line, bytes. */
  readonly maxLineBytes: number
  /** The whole stream, bytes. */
  readonly maxTotalBytes: number
}

const NEWLINE = 0x0a

/** Lines of a byte stream without their newline; empty lines and an unfinished last line are left out. Throws SupervisorError `protocol` above a cap. */
export async function* readLines(stream: ByteStream, caps: LineCaps): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let pending = 0
  let total = 0
  for await (const piece of stream) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    total += chunk.length
    if (total > caps.maxTotalBytes)
      throw new SupervisorError('protocol', `The sandbox sent more than ${caps.maxTotalBytes} bytes of events.`)
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const tail = chunk.subarray(start, end)
      if (pending + tail.length > caps.maxLineBytes) throw tooLong(caps)
      const line = parts.length === 0 ? tail : Buffer.concat([...parts, tail])
      parts = []
      pending = 0
      start = end + 1
      if (line.length > 0) yield line
    }
    if (start === chunk.length) continue
    pending += chunk.length - start
    if (pending > caps.maxLineBytes) throw tooLong(caps)
    parts.push(chunk.subarray(start))
  }
}

const tooLong = (caps: LineCaps): SupervisorError =>
  new SupervisorError('protocol', `The sandbox sent a line longer than ${caps.maxLineBytes} bytes.`)
