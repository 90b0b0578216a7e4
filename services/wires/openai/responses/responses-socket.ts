import type { SocketOptions, WireSocket } from '../../../http/wire-socket.ts'
import { errorEvent, EXPIRED, readMessage, refusalEvent, steerRefusal, type Wire } from './socket-messages.ts'
import { ERRORS, ServiceError } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import { TERMINAL_EVENTS } from '../../../model/responses/response.ts'

/** How far a response has been sent. */
interface Progress {
  readonly isUnstored: boolean
  /** Null before its first event. */
  readonly id: string | null
  /** The number of its last event. */
  readonly last: number
  readonly isOver: boolean
  readonly hasFailed: boolean
}

interface Options extends SocketOptions {
  /** A connection takes messages for this time, milliseconds. */
  readonly lifetimeMs?: number
}

/** OpenAI ends connections after an hour. */
const LIFETIME_MS = 3_600_000
/** Messages of one connection that run or wait, and their length in all, bytes. */
const MAX_PENDING = 16
const MAX_PENDING_BYTES = LIMITS.maxJsonBytes
/** How often a stream is resumed that ended before its response. */
const MAX_RESUMES = 3
/** Responses with `store: false` that the connection can continue. */
const MAX_UNSTORED = 100
/** The code of WebSocket for a violated policy. */
const POLICY_VIOLATION = 1008
const NORMAL_CLOSURE = 1000

/** Headers of the handshake itself, and those that would make every message a repetition of the first one. */
const NOT_COPIED = /^(?:connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding|expect|idempotency-key|x-stainless-retry-count)$/
/** Headers of a refusal that clients read. */
const ERROR_HEADERS = ['retry-after', 'x-should-retry', 'x-request-id']

/**
 * OpenAI's WebSocket mode of the Responses API on one connection. Each `response.create` becomes a streamed `POST /v1/responses`, so its checks, limits
 * and events are those of the route. Messages with one `stream_id` run one after another.
 */
export class ResponsesSocket {
  readonly #options: Options
  readonly #stop = new AbortController()
  readonly #lifetime: NodeJS.Timeout
  readonly #unstored = new Set<string>()
  /** The end of the last message of each lane. */
  readonly #lanes = new Map<string, Promise<void>>()
  #pending = 0
  #pendingBytes = 0
  #isExpired = false

  constructor(options: Options) {
    this.#options = options
    this.#lifetime = setTimeout(() => this.#expire(), options.lifetimeMs ?? LIFETIME_MS)
  }

  /** Takes one message of the client. Resolves when it waits for its turn, or its refusal was sent. */
  async receive(bytes: Uint8Array): Promise<void> {
    if (this.#stop.signal.aborted) return
    try {
      const { body, streamId } = readMessage(bytes)
      if (body['type'] === 'response.steer') await this.#refuseMessage(steerRefusal(body, bytes), 'steering_not_supported')
      else if (this.#isExpired) await this.#refuseMessage(errorEvent(400, EXPIRED, streamId), 'websocket_connection_limit_reached')
      else {
        this.#refuseExcess(bytes)
        this.#options.admission.messages.lease.add(bytes.byteLength)
        this.#enqueue(body, streamId, bytes.byteLength)
      }
    } catch (error) {
      const { code } = error instanceof ServiceError ? error : { code: 'internal_error' as const }
      await this.#refuseMessage(refusalEvent(error, null), code, ERRORS[code].status)
    }
  }

  /** A refused message is a request too. */
  async #refuseMessage(answer: string, code: string, status = 400): Promise<void> {
    const refused = this.#options.admission.messages.countRefused({ status, code }).then(
      () => answer,
      (error: unknown) => refusalEvent(error, null),
    )
    await this.#send(await refused)
  }

  /** The connection is gone. Responses that run continue, as those of a stream without a reader. */
  end(): void {
    clearTimeout(this.#lifetime)
    this.#stop.abort()
  }

  #refuseExcess({ byteLength }: Uint8Array): void {
    if (this.#pending < MAX_PENDING && (this.#pending === 0 || this.#pendingBytes + byteLength <= MAX_PENDING_BYTES)) return
    throw new ServiceError(
      'too_many_queued',
      `This connection has ${this.#pending} messages that run or wait; the maximum is ${MAX_PENDING}, with ${MAX_PENDING_BYTES} bytes. Wait for a response to end.`,
    )
  }

  #enqueue(message: Wire, streamId: string | null, bytes: number): void {
    this.#pending += 1
    this.#pendingBytes += bytes
    const lane = streamId ?? ''
    const before = this.#lanes.get(lane) ?? Promise.resolve()
    const done = before
      .then(() => this.#create(message, streamId))
      .catch((error: unknown) => this.#send(refusalEvent(error, streamId)))
      .finally(() => {
        this.#pending -= 1
        this.#pendingBytes -= bytes
        const { lease } = this.#options.admission.messages
        lease.set(lease.bytes - bytes)
        if (this.#lanes.get(lane) === done) this.#lanes.delete(lane)
        if (this.#isExpired && this.#pending === 0) void this.#closeExpired()
      })
    this.#lanes.set(lane, done)
  }

  async #create({ type: _type, background, ...body }: Wire, streamId: string | null): Promise<void> {
    if (this.#stop.signal.aborted) return
    if (background === true)
      throw new ServiceError('invalid_request', 'background is not supported on a WebSocket. Send POST /v1/responses instead.', {
        param: 'background',
      })
    const text = JSON.stringify({ ...body, stream: true })
    const answer = await this.#request('', { method: 'POST', body: text, headers: { 'content-type': 'application/json' } })
    let at = await this.#forward(answer, streamId, {
      isUnstored: body['store'] === false,
      id: null,
      last: -1,
      isOver: false,
      hasFailed: false,
    })
    // The server ends a stream at its longest time.
    for (let resumed = 0; !at.isOver && at.id !== null && resumed < MAX_RESUMES && !this.#stop.signal.aborted; resumed += 1)
      at = await this.#forward(await this.#request(`/${at.id}?stream=true&starting_after=${at.last}`, {}), streamId, at)
    // As OpenAI does: a client whose continuation failed starts again with the whole input.
    if (at.hasFailed) this.#unstored.delete(String(body['previous_response_id']))
  }

  async #request(path: string, init: RequestInit): Promise<Response> {
    const { fetch, handshake, sockets } = this.#options
    const url = new URL(handshake.url)
    const headers = new Headers(init.headers)
    for (const [name, value] of handshake.headers) if (!NOT_COPIED.test(name)) headers.set(name, value)
    if (typeof init.body === 'string') headers.set('content-length', String(Buffer.byteLength(init.body)))
    const request = new Request(`${url.origin}${url.pathname}${path}`, { ...init, headers, signal: this.#stop.signal })
    sockets.share(request, this.#unstored)
    return fetch(request)
  }

  /** Sends the events of an answer, or its error. Returns how far it came. */
  async #forward(answer: Response, streamId: string | null, from: Progress): Promise<Progress> {
    if (answer.body === null || answer.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      await this.#refuse(answer, streamId)
      return { ...from, isOver: true, hasFailed: true }
    }
    let at = from
    for await (const { event, data } of readFrames(answer.body, this.#stop.signal)) {
      const parsed = JSON.parse(data) as { readonly sequence_number: number; readonly response?: { readonly id: string } }
      const id = at.id ?? parsed.response?.id ?? null
      if (at.id === null && id !== null && from.isUnstored) this.#remember(id)
      at = { ...at, id, last: parsed.sequence_number, isOver: TERMINAL_EVENTS.includes(event), hasFailed: event === 'response.failed' }
      await this.#send(streamId === null ? data : `${data.slice(0, -1)},"stream_id":${JSON.stringify(streamId)}}`)
    }
    return at
  }

  #remember(id: string): void {
    if (this.#unstored.size >= MAX_UNSTORED) this.#unstored.delete(this.#unstored.values().next().value ?? '')
    this.#unstored.add(id)
  }

  async #refuse(answer: Response, streamId: string | null): Promise<void> {
    const { error } = (await answer.json()) as { readonly error: Wire }
    const headers = Object.fromEntries(
      ERROR_HEADERS.flatMap((name) => (answer.headers.has(name) ? [[name, answer.headers.get(name)]] : [])),
    )
    await this.#send(errorEvent(answer.status, { ...error, headers }, streamId))
    // Every further message would be refused as well.
    if (answer.status === 401) this.#options.peer.close(POLICY_VIOLATION, 'The API key is no longer valid.')
  }

  async #send(message: string): Promise<void> {
    if (this.#stop.signal.aborted) return
    // A client that is gone does not read; the server then calls `end`.
    await this.#options.peer.send(message).catch(() => this.end())
  }

  #expire(): void {
    this.#isExpired = true
    if (this.#pending === 0) void this.#closeExpired()
  }

  async #closeExpired(): Promise<void> {
    await this.#send(errorEvent(400, EXPIRED, null))
    this.#options.peer.close(NORMAL_CLOSURE, 'The connection is an hour old.')
  }
}

export const responsesSocket: WireSocket = { path: /^\/v1\/responses$/, open: (options) => new ResponsesSocket(options) }

/** One server-sent event with a name and one line of data. */
interface Frame {
  readonly event: string
  readonly data: string
}

/** The events of a stream that `responseFrames` wrote, without comments and the mark at the end. Ends at once when `signal` aborts. */
export async function* readFrames(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Frame, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
        if (event !== undefined && data !== undefined) yield { event, data }
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}
