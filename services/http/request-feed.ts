import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { FramePieces, RAW, RequestPieces, type Pieces } from './connection-pieces.ts'
import type { RoundRobin } from './round-robin.ts'

const NOTHING: Buffer = Buffer.alloc(0)
/** What has arrived of one connection has the parser for this time, milliseconds: Node needs 80 ms for 64 KiB in chunks of one byte. */
const TURN_MS = 1

/**
 * A connection as its parser reads it: one request of HTTP, and the next one when the answer of the first has been sent; or one frame of a WebSocket. Node
 * and `ws` parse all that has arrived, and 64 KiB hold 2,300 requests or 10,000 frames. What follows stays here, at most one read, and in the network.
 */
export class RequestFeed extends Duplex {
  readonly remoteAddress: string | undefined
  readonly #source: Socket
  readonly #turns: RoundRobin
  readonly #lingerMs: number
  readonly #requests = new RequestPieces()
  #pieces: Pieces = this.#requests
  /** Arrived, and not given to the parser. */
  #rest = NOTHING
  #isWanted = false
  #hasArrived = false
  #isInTurn = true
  #turnBeganAt = 0
  #hasEnded = false
  #hasBegun = false
  /** The last answer is being sent or has been sent, while its request arrives. */
  #isLingering = false
  #open: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse } | null = null

  /**
   * `turns` are those of clients that do not wait for answers: they get what the server has left for them. A client that is still sending when its request
   * has been answered has `lingerMs` to read the answer.
   */
  constructor(source: Socket, { turns, lingerMs }: { readonly turns: RoundRobin; readonly lingerMs: number }) {
    // Nothing is read ahead of the parser.
    super({ readableHighWaterMark: 0, decodeStrings: false })
    this.#turns = turns
    this.#lingerMs = lingerMs
    this.#source = source
    this.remoteAddress = source.remoteAddress
    source.on('data', (chunk) => this.#arrive(chunk))
    source.once('end', () => this.#end())
    source.once('error', (error) => this.destroy(error))
    source.once('close', () => this.destroy())
    source.on('timeout', () => this.emit('timeout'))
  }

  /** Whether it had requests, all of them are answered, and it was not upgraded. */
  get isIdle(): boolean {
    return this.#hasBegun && this.#open === null && this.#pieces === this.#requests
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

  /** The parser has read the head of a request. */
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers
    this.#hasBegun = true
    this.#open = { incoming, outgoing }
    if (encoding === undefined) this.#requests.expectBody(Number(length ?? 0))
    outgoing.once('close', () => {
      this.#open = null
      this.#takeTurn()
    })
  }

  /** From now on the connection is a WebSocket of this server, or carries bytes that this server does not parse. */
  upgrade(to: 'frames' | 'bytes'): void {
    this.#pieces = to === 'frames' ? new FramePieces() : RAW
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
    if (this.#isLingering) return
    if (this.#open?.incoming.complete === false) return this.#linger()
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  /**
   * Sends the end of the answer, and discards what arrives until the client closes the connection: one that is closed with unread bytes is reset, and its
   * client may lose the answer.
   */
  #linger(): void {
    this.#isLingering = true
    this.#rest = NOTHING
    this.#source.resume()
    this.end()
    const timer = setTimeout(() => this.destroy(), this.#lingerMs)
    this.once('close', () => clearTimeout(timer))
  }

  #arrive(chunk: Buffer): void {
    if (this.#isLingering) return
    if (this.#rest.length === 0) this.#turnBeganAt = performance.now()
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (this.#hasArrived) this.#give()
    else this.#arriveFirst()
    if (this.#rest.length > 0) this.#source.pause()
  }

  /**
   * The end of a connection that its client has closed already is read in the next pass of the event loop. Only then is its first request parsed, so that one
   * who opens and leaves connections takes a fraction of the time that the requests would take.
   */
  #arriveFirst(): void {
    this.#hasArrived = true
    this.#isInTurn = false
    setImmediate(() =>
      setImmediate(() => {
        if (this.#hasEnded) return void this.destroy()
        this.#isInTurn = true
        this.#turnBeganAt = performance.now()
        this.#give()
      }),
    )
  }

  #end(): void {
    this.#hasEnded = true
    if (this.#rest.length === 0) this.push(null)
  }

  /** Gives the parser the next piece, if it wants one and may have it. */
  #give(): void {
    if (!this.#isWanted || !this.#isInTurn || this.#rest.length === 0 || this.#isHeld()) return
    if (performance.now() - this.#turnBeganAt > TURN_MS) return this.#takeTurn()
    this.#isWanted = false
    const length = this.#pieces.next(this.#rest)
    const piece = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    if (this.#rest.length === 0 && !this.#hasEnded) this.#source.resume()
    this.push(piece)
    // A frame can be a message, whose work comes later.
    if (this.#pieces instanceof FramePieces) this.#takeTurn()
    if (this.#rest.length === 0 && this.#hasEnded) this.push(null)
  }

  /** The whole request has arrived, and its answer has not ended. */
  #isHeld(): boolean {
    return this.#open !== null && this.#open.incoming.complete && this.#pieces === this.#requests
  }

  /** What has arrived already waits until others were served. */
  #takeTurn(): void {
    if (this.#rest.length === 0 || !this.#isInTurn) return
    this.#isInTurn = false
    void this.#turns.enter(this.remoteAddress ?? '', this).then(() => {
      this.#isInTurn = true
      this.#turnBeganAt = performance.now()
      this.#give()
    })
  }
}
