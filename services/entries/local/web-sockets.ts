import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer, type WebSocket } from 'ws'
import { SocketAdmissions, type Admission } from '../../http/socket-admissions.ts'
import { SOCKETS } from '../../wires/one-machine.ts'
import { RoundRobin } from '../../http/round-robin.ts'
import type { WireSocket } from '../../http/wire-socket.ts'
import { LIMITS } from '../../model/limits.ts'
import { ArrivalSlots } from './arrival-slots.ts'
import { WebSocketPeer } from './web-socket-peer.ts'

/** Connections of one process. */
const MAX_CONNECTIONS = 1_000
/** Long messages of one tenant that arrive at the same time. */
const MAX_ARRIVING = 16
/** A connection whose client answers no ping within this time is gone, milliseconds. */
const PING_MS = 30_000
const GOING_AWAY = 1001
const UNSUPPORTED_DATA = 1003

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>

const socketAt = (url: string | undefined): WireSocket | undefined => SOCKETS.find(({ path }) => path.test(url?.split('?', 1)[0] ?? ''))

/**
 * Whether a request is a handshake. Others that ask for an upgrade, as Java's client does for HTTP/2, are answered as plain requests.
 */
export const isHandshake = (request: IncomingMessage): boolean => isWebSocket(request) && socketAt(request.url) !== undefined

export const isWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === 'websocket'

interface Connection {
  readonly handshake: Request
  readonly peer: WebSocket
  readonly socket: Duplex
  readonly admission: Admission
}

/** Upgrades handshakes that the API admits, and answers the others as it answers requests. */
export class WebSockets {
  readonly admissions = new SocketAdmissions(MAX_CONNECTIONS)
  readonly #stallMs: number
  readonly #queue = new RoundRobin()
  readonly #slots = new ArrivalSlots(MAX_ARRIVING)
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: LIMITS.maxJsonBytes,
    perMessageDeflate: false,
    clientTracking: true,
  })

  /** A connection that makes no progress for `stallMs` is closed. */
  constructor(stallMs: number = LIMITS.stallSeconds * 1000) {
    this.#stallMs = stallMs
  }

  /** Takes a connection whose first request asks for an upgrade. */
  async upgrade(
    fetch: Fetch,
    { incoming, socket, head }: { readonly incoming: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
  ): Promise<void> {
    socket.on('error', () => socket.destroy())
    // Its tenant is not known yet.
    await this.#queue.enter(`address ${incoming.socket.remoteAddress ?? ''}`, socket)
    if (socket.destroyed) return
    const handshake = requestOf(incoming)
    this.admissions.arrive(handshake, incoming.socket.remoteAddress ?? '')
    const answer = await fetch(handshake, {})
    const admission = this.admissions.take(handshake)
    if (admission === null) {
      await refuse(socket, answer)
      return
    }
    // The client may have left, and a handshake with wrong headers ends without a connection.
    socket.once('close', () => admission.release())
    if (socket.destroyed) admission.release()
    else this.#server.handleUpgrade(incoming, socket, head, (peer) => this.#serve(fetch, { handshake, peer, socket, admission }))
  }

  /** Ends every connection. */
  close(): void {
    for (const peer of this.#server.clients) {
      peer.close(GOING_AWAY, 'The server stops.')
      peer.terminate()
    }
  }

  #serve(fetch: Fetch, { handshake, peer, socket, admission }: Connection): void {
    const client = new WebSocketPeer(peer, {
      ...{ socket: socket as Socket, admission },
      ...{ slots: this.#slots, queue: this.#queue, stallMs: this.#stallMs },
    })
    const wire = socketAt(new URL(handshake.url).pathname)
    const session = wire?.open({
      fetch: (request) => fetch(request, {}),
      sockets: this.admissions,
      handshake,
      peer: client,
      admission,
    })
    const stopPings = keepAlive(peer)
    peer.on('message', (data, isBinary) => {
      if (isBinary && wire?.isBinary !== true) peer.close(UNSUPPORTED_DATA, 'Send JSON as text messages.')
      else void client.receive(data, async (bytes) => session?.receive(bytes, isBinary))
    })
    // A broken frame or a message that is too long; the connection closes with the code that says so.
    peer.on('error', () => undefined)
    peer.on('close', () => {
      stopPings()
      session?.end()
      admission.release()
    })
  }
}

function keepAlive(peer: WebSocket): () => void {
  let isAlive = true
  peer.on('pong', () => {
    isAlive = true
  })
  const timer = setInterval(() => {
    // The pong of a paused connection has not been read.
    if (peer.isPaused) return
    if (!isAlive) {
      peer.terminate()
      return
    }
    isAlive = false
    peer.ping()
  }, PING_MS)
  return () => clearInterval(timer)
}

/** The handshake as the API reads it. */
function requestOf({ headers, url = '/' }: IncomingMessage): Request {
  const all = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as [string, string]]))
  const host = /^[\w.:[\]-]+$/.test(headers.host ?? '') ? headers.host : 'localhost'
  return new Request(`http://${host}${url}`, { headers: all })
}

async function refuse(socket: Duplex, answer: Response): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer())
  const headers = [...answer.headers].filter(([name]) => name !== 'connection' && name !== 'content-length')
  const lines = [...headers.map(([name, value]) => `${name}: ${value}`), 'connection: close', `content-length: ${body.byteLength}`]
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n`
  socket.end(Buffer.concat([Buffer.from(head), body]), () => socket.destroy())
}
