import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiConfig } from './config.ts'
import type { ByteLease, BytePool } from './connection-budget.ts'
import { bindIntake } from './read-body.ts'

/** What the server passes with a request. A function has no own connection, and a message of a WebSocket is no request of Node. */
export interface ConnectionEnv {
  readonly incoming?: IncomingMessage
  readonly outgoing?: ServerResponse
  /**
   * Called when a request of the connection had a valid key of this tenant. Throws ServiceError when the tenant has too many connections. Returns what to call
   * when the work for the request has ended, which may be after its client has left.
   */
  readonly identified?: (tenant: string) => () => void
}

export const connectionOf = (env: unknown): ConnectionEnv => (typeof env === 'object' && env !== null ? env : {})

/** The owner of what a request without a key holds. */
export const addressOwner = ({ incoming }: ConnectionEnv): string => `address ${incoming?.socket.remoteAddress ?? 'unknown'}`

export interface ExchangePools {
  readonly bodies: BytePool
  readonly answers: BytePool
  readonly config: Pick<ApiConfig, 'stallMs'>
}

/**
 * What one request holds of the memory of this process: its body, and its answer until the last byte was handed to the network. Both are free when the
 * handler has ended and the answer has been sent or its connection is gone.
 */
export class Exchange {
  readonly answer: ByteLease
  readonly #body: ByteLease
  #isHandled = false
  #isClosed = true

  /** Throws ServiceError `too_many_results` when the owner has not read as many bytes of earlier answers as it may hold. */
  constructor(
    { bodies, answers, config }: ExchangePools,
    owner: string,
    { request, env }: { readonly request: Request; readonly env: ConnectionEnv },
  ) {
    answers.check(owner, 1)
    this.answer = answers.lease(owner)
    this.#body = bodies.lease(owner)
    const { incoming = null, outgoing } = env
    bindIntake(request, { lease: this.#body, incoming, stallMs: config.stallMs })
    if (outgoing === undefined || outgoing.destroyed) return
    this.#isClosed = false
    outgoing.once('prefinish', () => this.answer.set(outgoing.writableLength))
    outgoing.once('close', () => {
      this.#isClosed = true
      this.#end()
    })
  }

  /** The handler has returned its answer, or failed. */
  handled(): void {
    this.#isHandled = true
    this.#end()
  }

  #end(): void {
    if (!this.#isHandled || !this.#isClosed) return
    this.answer.release()
    this.#body.release()
  }
}
