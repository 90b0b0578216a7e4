import { request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline, type Duplex } from 'node:stream'
import { PortError } from './port-error.ts'
import type { HeaderFields } from '../../model/network/forwarded-headers.ts'
import { headersToProgram, headersToVisitor, type PortAddress } from './port-headers.ts'

/** A visitor's request, and where its answer goes. */
export interface Messages {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  /** The connection of a request for a WebSocket, with what has arrived on it already; null for other requests. */
  readonly upgrade: { readonly socket: Duplex; readonly head: Buffer } | null
}

interface ExchangeOptions {
  readonly address: PortAddress
  readonly secretHeaders: readonly string[]
  /** Added to the policy of answers; null for none. */
  readonly policy: string | null
  /** Aborts when the visitor has left. */
  readonly left: AbortSignal
  readonly onError: (error: PortError) => void
  readonly onEnd: () => void
}

/** Fields that the parser of the program's answer needs from the visitor's handshake. */
const UPGRADE: HeaderFields = { connection: ['Upgrade'], upgrade: ['websocket'] }
const noAnswer = (): PortError =>
  new PortError(502, 'no_answer', 'The program on this port ended the connection, or its answer is not HTTP. Read its output.')

/**
 * One request to a program, on a separate connection: both sides are parsed, and framed again, so that no byte of one request can be taken for another one.
 * After an upgrade the connection carries bytes both ways.
 */
export class PortExchange {
  readonly #messages: Messages
  readonly #options: ExchangeOptions
  readonly #program: Duplex
  readonly #visitor: Socket
  #request: ClientRequest | null = null
  #answer: IncomingMessage | null = null
  #hasEnded = false

  constructor(messages: Messages, program: Duplex, options: ExchangeOptions) {
    this.#messages = messages
    this.#options = options
    this.#program = program
    this.#visitor = messages.incoming.socket
  }

  /** Bytes of the visitor, and of both directions, since the connection began. */
  get traffic(): { readonly sent: number; readonly all: number } {
    const { bytesRead, bytesWritten } = this.#visitor
    const { bytesRead: fromProgram = 0 } = this.#program as Partial<Socket>
    return { sent: bytesRead, all: bytesRead + bytesWritten + fromProgram }
  }

  start(): void {
    const { incoming, upgrade } = this.#messages
    const { address, secretHeaders, left } = this.#options
    const headers = headersToProgram(incoming, address, secretHeaders)
    const toProgram = request({
      createConnection: () => this.#program,
      method: incoming.method,
      path: incoming.url,
      headers: upgrade === null ? headers : { ...headers, ...UPGRADE },
      setHost: false,
    })
    this.#request = toProgram
    // An answer that has begun ends with its own error.
    toProgram.on('error', () => this.#answer === null && this.end(noAnswer()))
    toProgram.once('response', (answer) => this.#respond(answer))
    toProgram.once('upgrade', (answer, program: Duplex, head) => this.#join(answer, program, head))
    left.addEventListener('abort', () => this.end(), { once: true })
    if (upgrade !== null) return void toProgram.end()
    // Not a pipeline: a program that stops reading must not end the visitor's connection, on which the answer goes.
    incoming.pipe(toProgram)
  }

  /** Ends both connections. Without an answer so far, `error` is the answer. Further calls have no effect. */
  end(error?: PortError): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { incoming, outgoing, upgrade } = this.#messages
    incoming.unpipe()
    if (error !== undefined && !outgoing.headersSent && !outgoing.destroyed) this.#options.onError(error)
    else if (!outgoing.writableEnded) (upgrade?.socket ?? outgoing).destroy()
    this.#request?.destroy()
    this.#program.destroy()
    this.#options.onEnd()
  }

  #respond(answer: IncomingMessage): void {
    const { incoming, outgoing } = this.#messages
    this.#answer = answer
    // The rest of the body would be taken for the next request.
    if (!incoming.complete) outgoing.shouldKeepAlive = false
    try {
      outgoing.writeHead(answer.statusCode ?? 502, this.#headersOf(answer))
    } catch {
      return this.end(noAnswer())
    }
    pipeline(answer, outgoing, (error) => this.end(error ? noAnswer() : undefined))
  }

  #headersOf(answer: IncomingMessage): HeaderFields {
    return headersToVisitor(answer, this.#options.address, this.#options.policy)
  }

  #join(answer: IncomingMessage, program: Duplex, head: Buffer): void {
    const { outgoing, upgrade } = this.#messages
    if (upgrade === null || answer.headers.upgrade?.toLowerCase() !== 'websocket') return this.end(noAnswer())
    const { socket } = upgrade
    outgoing.writeHead(101, { ...this.#headersOf(answer), ...UPGRADE })
    outgoing.flushHeaders()
    outgoing.detachSocket(socket as Socket)
    if (head.length > 0) program.unshift(head)
    if (upgrade.head.length > 0) socket.unshift(upgrade.head)
    pipeline(program, socket, () => this.end())
    pipeline(socket, program, () => this.end())
  }
}
