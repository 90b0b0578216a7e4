import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import type { ByteLease } from '../../http/connection-budget.ts'
import type { SocketPeer } from '../../http/wire-socket.ts'

/** A client whose tenant holds too many bytes can connect again later. */
const TRY_AGAIN_LATER = 1013

interface PeerOptions {
  readonly socket: Socket
  /** Counts messages of the connection. */
  readonly lease: ByteLease
  /** A connection whose client reads nothing, or stops in the middle of a message, for this time is closed, milliseconds. */
  readonly stallMs: number
}

/**
 * The client of a WebSocket. Messages are taken one after another, and none while the client does not read what it was sent. A message counts while its parts arrive.
 */
export class WebSocketPeer implements SocketPeer {
  readonly #peer: WebSocket
  readonly #lease: ByteLease
  #lastSend: Promise<void> = Promise.resolve()
  #lastTaken: Promise<void> = Promise.resolve()
  /** Sends and messages that have not ended. */
  #busy = 0
  /** Bytes of a message whose end has not arrived. */
  #arriving = 0

  constructor(peer: WebSocket, { socket, lease, stallMs }: PeerOptions) {
    this.#peer = peer
    this.#lease = lease
    // Node restarts this time with each byte that either side moves.
    socket.setTimeout(stallMs, () => {
      if (socket.writableLength > 0 || this.#arriving > 0) peer.terminate()
    })
    socket.on('data', (chunk: Buffer) => this.#count(chunk.byteLength))
  }

  /** A message is handed to the network when the one before it was, so at most one of them is in memory here. */
  send(text: string): Promise<void> {
    const sent = this.#lastSend.then(() => this.#sendNow(text))
    this.#lastSend = sent.catch(() => undefined)
    return sent
  }

  async #sendNow(text: string): Promise<void> {
    const sent = new Promise<void>((resolve, reject) => {
      this.#peer.send(text, (error) => (error ? reject(error) : resolve()))
    })
    await (this.#peer.bufferedAmount > 0 ? this.#paused(sent) : sent)
  }

  close(code: number, reason: string): void {
    this.#peer.close(code, reason)
  }

  /** Takes a message when the answers to refused ones before it were sent. */
  receive(data: RawData, take: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    this.#arrived()
    this.#lastTaken = this.#paused(this.#lastTaken.then(() => take(bytesOf(data))))
    return this.#lastTaken
  }

  #count(bytes: number): void {
    try {
      this.#lease.add(bytes)
      this.#arriving += bytes
    } catch {
      this.close(TRY_AGAIN_LATER, 'This account holds as many bytes of requests as it may. Connect again later.')
    }
  }

  #arrived(): void {
    this.#lease.set(this.#lease.bytes - this.#arriving)
    this.#arriving = 0
  }

  async #paused(work: Promise<void>): Promise<void> {
    this.#busy += 1
    if (this.#busy === 1) this.#peer.pause()
    try {
      await work
    } finally {
      this.#busy -= 1
      if (this.#busy === 0) this.#peer.resume()
    }
  }
}

const bytesOf = (data: RawData): Uint8Array =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data)
