import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { FairQueue } from './fair-queue.ts'

const END_OF_HEAD = Buffer.from('\r\n\r\n')
const NOTHING: Buffer = Buffer.alloc(0)

/**
 * A connection as the HTTP server reads it: one request, and the next one when the answer of the first has been sent. Node parses all requests that have
 * arrived, and 64 KiB hold 2,300 of them; what follows the open request stays here, at most one read, and in the network.
 *
 * Each piece that the parser gets ends where a request may end: after the end of a head, of a body of known length, or of the empty line that ends a body of
 * chunks. So no piece has the beginnings of two requests.
 */
export class RequestFeed extends Duplex {
  readonly remoteAddress: string | undefined
  readonly #source: Socket
  readonly #turns: FairQueue
  /** Arrived, and not given to the parser. */
  #rest = NOTHING
  /** The last bytes of the piece before, if its end of a head may be in two pieces. */
  #tail = NOTHING
  #isWanted = false
  #hasEnded = false
  #isUpgraded = false
  #requests = 0
  #open: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse; bytesLeft: number | null } | null = null

  /** `turns` are those of clients that do not wait for answers: they get what the server has left for them. */
  constructor(source: Socket, turns: FairQueue) {
    // Nothing is read ahead of the parser.
    super({ readableHighWaterMark: 0, decodeStrings: false })
    this.#turns = turns
    this.#source = source
    this.remoteAddress = source.remoteAddress
    source.on('data', (chunk) => this.#arrive(chunk))
    source.once('end', () => this.#end())
    source.once('error', (error) => this.destroy(error))
    source.once('close', () => this.destroy())
    source.on('timeout', () => this.emit('timeout'))
  }

  /** Whether it had requests, all of them are answered, and it is no WebSocket. */
  get isIdle(): boolean {
    return this.#requests > 0 && this.#open === null && !this.#isUpgraded
  }

  /** Whether the answer of the open request has begun. */
  get isAnswering(): boolean {
    return this.#open?.outgoing.headersSent === true
  }

  get bytesRead(): number {
    return this.#source.bytesRead
  }

  get bytesWritten(): number {
    return this.#source.bytesWritten
  }

  /** The parser has read a request. */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers
    this.#requests++
    this.#open = { incoming, outgoing, bytesLeft: encoding === undefined ? Number(length ?? 0) : null }
    outgoing.once('close', () => {
      this.#open = null
      if (this.#rest.length > 0) void this.#turns.enter(this.remoteAddress ?? '').then(() => this.#give())
    })
  }

  /** The connection is a WebSocket from now on: no parser reads it. */
  upgraded(): void {
    this.#isUpgraded = true
  }

  override _read(): void {
    this.#isWanted = true
    this.#give()
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#source.write(chunk, encoding, callback)
  }

  override _writev(
    chunks: readonly { readonly chunk: Buffer | string; readonly encoding: BufferEncoding }[],
    callback: (error?: Error | null) => void,
  ): void {
    this.#source.cork()
    for (const [index, { chunk, encoding }] of chunks.entries())
      this.#source.write(chunk, encoding, index === chunks.length - 1 ? callback : undefined)
    this.#source.uncork()
  }

  override _final(callback: () => void): void {
    this.#source.end(callback)
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#rest = NOTHING
    this.#source.destroy()
    callback(error)
  }

  // What the HTTP server and `ws` call on a connection besides the methods of streams.

  setTimeout(ms: number, onTimeout?: () => void): this {
    this.#source.setTimeout(ms)
    if (onTimeout !== undefined) this.once('timeout', onTimeout)
    return this
  }

  setNoDelay(isOn?: boolean): this {
    this.#source.setNoDelay(isOn)
    return this
  }

  setKeepAlive(isOn?: boolean, delayMs?: number): this {
    this.#source.setKeepAlive(isOn, delayMs)
    return this
  }

  /** Closes the connection when all that was written has been sent. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  #arrive(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    this.#give()
    if (this.#rest.length > 0) this.#source.pause()
  }

  #end(): void {
    this.#hasEnded = true
    if (this.#rest.length === 0) this.push(null)
  }

  /** Gives the parser the next piece, if it wants one and may have it. */
  #give(): void {
    if (!this.#isWanted || this.#rest.length === 0 || this.#isHeld()) return
    this.#isWanted = false
    const length = this.#pieceLength()
    const piece = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    if (this.#rest.length === 0 && !this.#hasEnded) this.#source.resume()
    this.push(piece)
    if (this.#rest.length === 0 && this.#hasEnded) this.push(null)
  }

  /** The whole request has arrived, and its answer has not ended. */
  #isHeld(): boolean {
    return this.#open !== null && this.#open.incoming.complete && !this.#isUpgraded
  }

  #pieceLength(): number {
    const available = this.#rest.length
    if (this.#isUpgraded) return available
    if (this.#open !== null && this.#open.bytesLeft !== null && this.#open.bytesLeft > 0) {
      const length = Math.min(available, this.#open.bytesLeft)
      this.#open.bytesLeft -= length
      return length
    }
    const split = Buffer.concat([this.#tail, this.#rest.subarray(0, END_OF_HEAD.length - 1)]).indexOf(END_OF_HEAD)
    const at = split === -1 ? this.#rest.indexOf(END_OF_HEAD) : split - this.#tail.length
    if (at !== -1) {
      this.#tail = NOTHING
      return at + END_OF_HEAD.length
    }
    this.#tail = Buffer.concat([this.#tail, this.#rest]).subarray(1 - END_OF_HEAD.length)
    return available
  }
}
