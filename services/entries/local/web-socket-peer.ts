import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import type { ByteLease } from '../../http/connection-budget.ts'
import type { RoundRobin } from '../../http/round-robin.ts'
import type { Admission } from '../../http/socket-admissions.ts'
import type { SocketPeer } from '../../http/wire-socket.ts'
import type { ArrivalSlots } from './arrival-slots.ts'

/** A client whose tenant holds too many bytes can connect again later. */
const TRY_AGAIN_LATER = 1013
/** A message of which more bytes have arrived needs a slot. */
const SHORT_BYTES = 64 * 1024
/** A client's control frame has these bytes before its data: two, and the mask (RFC 6455, section 5.2). */
const CONTROL_HEAD_BYTES = 6

interface PeerOptions {
  readonly socket: Socket
  /** Counts messages of the connection. */
  readonly admission: Pick<Admission, 'messages'>
  readonly slots: ArrivalSlots
  /** Where messages wait before they are taken. */
  readonly queue: RoundRobin
  /** A connection whose client reads nothing, or stops in the middle of a message, for this time is closed, milliseconds. */
  readonly stallMs: number
}

/**
 * The client of a WebSocket. Messages are taken one after another, and none while the client does not read what it was sent. A message counts from its first
 * byte until it is taken.
 */
export class WebSocketPeer implements SocketPeer {
  readonly #peer: WebSocket
  readonly #admission: Pick<Admission, 'messages'>
  readonly #slots: ArrivalSlots
  readonly #queue: RoundRobin
  #lastSend: Promise<void> = Promise.resolve()
  #lastTaken: Promise<void> = Promise.resolve()
  /** Sends, messages that have not ended, and waits for a slot. */
  #busy = 0
  /** Bytes of a message whose end has not arrived. */
  #arriving = 0
  #releaseSlot: (() => void) | null = null

  constructor(peer: WebSocket, { socket, admission, slots, queue, stallMs }: PeerOptions) {
    this.#peer = peer
    this.#admission = admission
    this.#slots = slots
    this.#queue = queue
    // Node restarts this time with each byte that either side moves.
    socket.setTimeout(stallMs, () => {
      if (socket.writableLength > 0 || this.#arriving > 0) peer.terminate()
    })
    // Bytes count before the frames in them are read.
    socket.prependListener('data', (chunk: Buffer) => this.#count(chunk.byteLength))
    for (const name of ['ping', 'pong'] as const)
      peer.on(name, ({ byteLength }: Buffer) => this.#count(-Math.min(byteLength + CONTROL_HEAD_BYTES, this.#arriving)))
    peer.once('close', () => this.#releaseSlot?.())
  }

  /** It changes when the client says who it is. */
  get #lease(): ByteLease {
    return this.#admission.messages.lease
  }

  /** A message is handed to the network when the one before it was, so at most one of them is in memory here. */
  send(message: string | Uint8Array): Promise<void> {
    const sent = this.#lastSend.then(() => this.#sendNow(message))
    this.#lastSend = sent.catch(() => undefined)
    return sent
  }

  async #sendNow(message: string | Uint8Array): Promise<void> {
    const sent = new Promise<void>((resolve, reject) => {
      this.#peer.send(message, (error) => (error ? reject(error) : resolve()))
    })
    await (this.#peer.bufferedAmount > 0 ? this.#paused(sent) : sent)
  }

  close(code: number, reason: string): void {
    this.#peer.close(code, reason)
  }

  /** Takes a message when the answers to refused ones before it were sent. */
  receive(data: RawData, take: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    const arrived = this.#arriving
    const releaseSlot = this.#releaseSlot
    this.#arriving = 0
    this.#releaseSlot = null
    const taken = this.#lastTaken.then(async () => {
      await this.#queue.enter(this.#lease.owner)
      this.#lease.set(this.#lease.bytes - arrived)
      await take(bytesOf(data))
    })
    this.#lastTaken = this.#paused(taken.finally(releaseSlot))
    return this.#lastTaken
  }

  #count(bytes: number): void {
    try {
      this.#lease.add(bytes)
      this.#arriving += bytes
      if (this.#arriving > SHORT_BYTES) this.#takeSlot()
    } catch {
      this.close(TRY_AGAIN_LATER, 'This account holds as many bytes of requests as it may. Connect again later.')
    }
  }

  #takeSlot(): void {
    if (this.#releaseSlot !== null) return
    const { granted, release } = this.#slots.take(this.#lease.owner)
    this.#releaseSlot = release
    void this.#paused(granted)
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
