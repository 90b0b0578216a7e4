import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { NetworkRule } from '../../model/network/rule.ts'
import { forwardedHeaders } from '../../model/network/forwarded-headers.ts'
import { headBytes, METHOD_OVERRIDES, onceAnswered } from './headers.ts'
import { answerRefusal } from './refusal.ts'
import { Redactor } from './redactor.ts'
import { MissingSecretError, putSecrets, secretsOf, type Headers, type HostSecrets } from './secrets.ts'
import { describeFailure, type Upstream } from './upstream.ts'
import type { NetworkSecret } from '../../ports/network-gateway.ts'

/** Where a request goes: what the tunnel or the request line says, never what a header says. */
export interface Destination {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  /** Path and query as they were sent. */
  readonly path: string
}

/** What is reported about a request. */
export interface ExchangeEnd {
  readonly status: number | null
  readonly bytesUp: number
  readonly bytesDown: number
  /** Null for a request that was forwarded completely. */
  readonly reason: string | null
  readonly secret: string | null
  readonly decision: 'allowed' | 'refused'
}

interface ExchangeContext {
  readonly upstream: Upstream
  readonly secrets: readonly NetworkSecret[]
  /** Runs work when it is the tenant's turn. */
  readonly inTurn: (work: () => void) => void
  /** Counts bytes; false when the budget is used. */
  readonly spend: (bytes: number) => boolean
  readonly onEnd: (end: ExchangeEnd) => void
}

const BUDGET_USED = 'The byte budget of this container or account for the network is used.'
const COMPRESSED = 'The host compressed its answer although it was asked not to, so that secrets in it cannot be removed.'
/** An answer in parts would split a secret, and a stored one would not be compared. */
const NOT_WITH_SECRETS = ['range', 'if-range', 'accept-encoding']

/** One allowed request on its way to the host and back. It ends with the client, the host, the budget or `abort`. */
export class Exchange {
  readonly #context: ExchangeContext
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #destination: Destination
  #request: ClientRequest | null = null
  #redactor = new Redactor([])
  #bytesUp = 0
  #bytesDown = 0
  #reason: string | null = null
  #names: readonly string[] = []
  #decision: ExchangeEnd['decision'] = 'allowed'

  constructor(
    context: ExchangeContext,
    destination: Destination,
    messages: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
  ) {
    this.#context = context
    this.#destination = destination
    this.#incoming = messages.incoming
    this.#outgoing = messages.outgoing
  }

  /** Forwards the request under the rule that allowed it. */
  start(rule: NetworkRule): void {
    onceAnswered(this.#incoming, this.#outgoing, () => this.#end())
    const headers = forwardedHeaders(this.#incoming)
    if (rule.methods !== undefined) for (const name of METHOD_OVERRIDES) delete headers[name]
    if (!this.#addSecrets(headers, rule)) return
    this.#bytesUp += headBytes(headers)
    if (!this.#context.spend(this.#bytesUp)) return this.#refuse(403, BUDGET_USED)
    const request = this.#context.upstream.request({ ...this.#destination, method: this.#incoming.method ?? 'GET', headers })
    this.#request = request
    request.once('response', (answer) => this.#forward(answer))
    request.once('error', (error) => this.#fail(error))
    this.#sendBody(request)
  }

  /** Ends it at once, for a policy that allows it no longer. */
  abort(reason: string): void {
    this.#reason ??= reason
    this.#decision = 'refused'
    if (this.#outgoing.headersSent) this.#outgoing.destroy()
    else this.#refuse(403, reason)
    // The rest of the request is not read.
    this.#outgoing.once('finish', () => this.#incoming.socket.destroySoon())
    this.#request?.destroy()
  }

  /** False when the request was refused. */
  #addSecrets(headers: Headers, rule: NetworkRule): boolean {
    const { host, isSecure } = this.#destination
    const own: HostSecrets = secretsOf(isSecure ? this.#context.secrets : [], host)
    try {
      const { names, sensitive } = putSecrets(headers, rule, own)
      this.#names = names
      this.#redactor = new Redactor(own.secrets, sensitive)
    } catch (error) {
      if (!(error instanceof MissingSecretError)) throw error
      this.#refuse(403, error.message)
      return false
    }
    if (this.#redactor.isActive) {
      for (const name of NOT_WITH_SECRETS) delete headers[name]
      headers['accept-encoding'] = ['identity']
    }
    return true
  }

  #sendBody(request: ClientRequest): void {
    const incoming = this.#incoming
    incoming.on('data', (chunk: Buffer) => {
      this.#bytesUp += chunk.length
      if (!this.#context.spend(chunk.length)) return this.abort(BUDGET_USED)
      if (!request.write(chunk)) incoming.pause()
    })
    request.on('drain', () => incoming.resume())
    incoming.once('end', () => request.end())
    incoming.once('error', () => request.destroy())
  }

  #forward(answer: IncomingMessage): void {
    const headers = forwardedHeaders(answer)
    const encoding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
    if (this.#redactor.isActive && encoding !== 'identity') {
      this.#request?.destroy()
      return this.#refuse(502, COMPRESSED)
    }
    // The answer is chunked again where it has no length.
    delete headers['transfer-encoding']
    const shown = Object.entries(headers).map(([name, values]): [string, string[]] => [
      name,
      values.map((value) => this.#redactor.text(value)),
    ])
    this.#count(headBytes(headers))
    this.#outgoing.writeHead(answer.statusCode ?? 502, this.#redactor.text(answer.statusMessage ?? ''), Object.fromEntries(shown))
    if (this.#redactor.isActive) this.#outgoing.flushHeaders()
    this.#copy(answer)
  }

  #copy(answer: IncomingMessage): void {
    const outgoing = this.#outgoing
    answer.on('data', (chunk: Buffer) => {
      answer.pause()
      this.#context.inTurn(() => this.#pass(answer, chunk))
    })
    outgoing.on('drain', () => answer.resume())
    // The last part may still wait for its turn.
    answer.once('end', () => this.#context.inTurn(() => void outgoing.end(this.#redactor.end())))
    // The client must see that the body is cut.
    answer.once('error', (error) => {
      this.#reason ??= `The answer was cut: ${error.message}`
      outgoing.destroy()
    })
  }

  #pass(answer: IncomingMessage, chunk: Buffer): void {
    if (this.#outgoing.destroyed) return
    if (!this.#count(chunk.length)) return this.abort(BUDGET_USED)
    const bytes = this.#redactor.isActive ? this.#redactor.write(chunk) : chunk
    // Otherwise `drain` resumes it.
    if (bytes.length === 0 || this.#outgoing.write(bytes)) answer.resume()
  }

  #count(bytes: number): boolean {
    this.#bytesDown += bytes
    return this.#context.spend(bytes)
  }

  #fail(error: Error): void {
    if (this.#outgoing.headersSent || this.#outgoing.destroyed) {
      this.#outgoing.destroy()
      return
    }
    const { status, reason } = describeFailure(this.#destination.host, error)
    this.#refuse(status, reason)
  }

  #refuse(status: number, reason: string): void {
    this.#reason ??= reason
    if (status === 403) this.#decision = 'refused'
    if (!this.#outgoing.headersSent && !this.#outgoing.destroyed) answerRefusal(this.#outgoing, status, this.#redactor.text(reason))
  }

  #end(): void {
    this.#request?.destroy()
    const { statusCode, headersSent } = this.#outgoing
    this.#context.onEnd({
      status: headersSent ? statusCode : null,
      bytesUp: this.#bytesUp,
      bytesDown: this.#bytesDown,
      reason: this.#reason,
      decision: this.#decision,
      secret: this.#names.length === 0 ? null : this.#names.join(','),
    })
  }
}
