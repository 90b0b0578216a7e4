const END_OF_HEAD = Buffer.from('\r\n\r\n')
/** A piece of a head or of a body in chunks, bytes: it can have hundreds of chunks. */
const MAX_PIECE = 4_096
const NOTHING: Buffer = Buffer.alloc(0)
/** The longest head of a frame of a WebSocket, bytes (RFC 6455, section 5.2). */
const MAX_FRAME_HEAD = 14

/** Divides what arrives on a connection, so that a parser that reads one piece begins at most one message. */
export interface Pieces {
  /** Length of the piece at the beginning of `bytes`, which has at least one byte. Pieces are taken in order. */
  next(bytes: Buffer): number
}

/** Bytes that are not parsed here. */
export const RAW: Pieces = { next: (bytes) => bytes.length }

/** HTTP: a piece ends after a head, a body of known length, or an empty line, with which a body of chunks ends. */
export class RequestPieces implements Pieces {
  /** The last bytes of the piece before, if its end of a head may be in two pieces. */
  #tail = NOTHING
  #bodyLeft = 0

  /** A body of this length follows, bytes. */
  expectBody(length: number): void {
    this.#bodyLeft = length
  }

  next(arrived: Buffer): number {
    if (this.#bodyLeft > 0) {
      const length = Math.min(arrived.length, this.#bodyLeft)
      this.#bodyLeft -= length
      return length
    }
    const bytes = arrived.subarray(0, MAX_PIECE)
    const inBoth = Buffer.concat([this.#tail, bytes.subarray(0, END_OF_HEAD.length - 1)]).indexOf(END_OF_HEAD)
    const at = inBoth === -1 ? bytes.indexOf(END_OF_HEAD) : inBoth - this.#tail.length
    if (inBoth !== -1 || at !== -1) {
      this.#tail = NOTHING
      return at + END_OF_HEAD.length
    }
    this.#tail = Buffer.concat([this.#tail, bytes]).subarray(1 - END_OF_HEAD.length)
    return bytes.length
  }
}

/** A WebSocket: a piece ends with a frame. */
export class FramePieces implements Pieces {
  /** The beginning of a head whose end has not arrived. */
  #head = NOTHING
  /** Of the frame whose head has arrived. */
  #bytesLeft = 0

  next(bytes: Buffer): number {
    if (this.#bytesLeft === 0) {
      const head = Buffer.concat([this.#head, bytes.subarray(0, MAX_FRAME_HEAD)])
      const length = frameLength(head)
      if (length === null) {
        this.#head = head
        return bytes.length
      }
      this.#bytesLeft = length - this.#head.length
      this.#head = NOTHING
    }
    const length = Math.min(bytes.length, this.#bytesLeft)
    this.#bytesLeft -= length
    return length
  }
}

/** Length of a frame with its head, bytes; null when its head has not arrived. */
function frameLength(head: Buffer): number | null {
  const second = head[1]
  if (second === undefined) return null
  const maskBytes = second >= 0x80 ? 4 : 0
  const short = second & 0x7f
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
  const headBytes = 2 + lengthBytes + maskBytes
  if (head.length < headBytes) return null
  const payload = lengthBytes === 0 ? short : lengthBytes === 2 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2))
  return headBytes + payload
}
