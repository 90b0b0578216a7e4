import * as z from 'zod'
import { openObject } from '../../model/bounded-schemas.ts'
import { lazySchema } from '../../model/lazy-schema.ts'
import { MESSAGE } from '../../model/scan-json.ts'
import { parseJson } from '../../http/parse-json.ts'
import type { SocketOptions, WireSocket } from '../../http/wire-socket.ts'
import { USER_HEADER } from './routing.ts'
import { CHAT_HEADER, CONTEXT_HEADER, SHARED } from './terminal.ts'
import { safeParse } from '../../model/safe-parse.ts'

/** A client says within this time who it is, milliseconds. */
const AUTH_MS = 10_000
/** Codes that Open WebUI's own service closes a connection with. */
const UNAUTHORIZED = 4001
const NOT_FOUND = 4004
const TRY_AGAIN_LATER = 1013
const NORMAL_CLOSURE = 1000
/** What fits into a close frame, characters. */
const MAX_REASON = 100

/** Headers of the handshake itself. */
const NOT_COPIED = /^(?:connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding|expect|authorization)$/

const Auth = lazySchema(() => openObject({ type: z.literal('auth'), token: z.string(), chat_id: z.string().max(200).optional() }))
const Resize = lazySchema(() => openObject({ type: z.literal('resize'), cols: z.number(), rows: z.number() }))
const Line = lazySchema(() => z.object({ seq: z.number().optional(), text: z.string().optional(), isOver: z.literal(true).optional() }))

/**
 * A shell on a WebSocket: the first message has the key, binary ones are what the user types, and binary answers are what the shell prints. Each message is a call of a
 * route, so its checks and limits hold. As with Open WebUI's own service, the shell ends with its connection.
 */
class ShellSocket {
  readonly #options: SocketOptions
  readonly #stop = new AbortController()
  readonly #timer = setTimeout(() => this.#close(UNAUTHORIZED, 'No key was sent.'), AUTH_MS)
  readonly #url: URL
  /** Of every call of the connection; null before its first message. */
  #headers: Headers | null = null

  constructor(options: SocketOptions) {
    this.#options = options
    this.#url = new URL(options.handshake.url)
  }

  async receive(bytes: Uint8Array, isBinary: boolean): Promise<void> {
    if (this.#stop.signal.aborted) return
    if (this.#headers === null) await this.#identify(bytes, isBinary)
    else if (isBinary) await this.#send('input', bytes)
    else await this.#resize(bytes)
  }

  /** The connection is gone. */
  end(): void {
    clearTimeout(this.#timer)
    this.#stop.abort()
    if (this.#headers !== null) void this.#request('', { method: 'DELETE' }).catch(() => undefined)
  }

  async #identify(bytes: Uint8Array, isBinary: boolean): Promise<void> {
    clearTimeout(this.#timer)
    const first = isBinary ? undefined : safeParse(Auth(), parsed(bytes)).data
    if (first === undefined) return this.#close(UNAUTHORIZED, 'The first message must be {"type": "auth", "token": KEY}.')
    const headers = new Headers()
    for (const [name, value] of this.#options.handshake.headers) if (!NOT_COPIED.test(name)) headers.set(name, value)
    const query = this.#url.searchParams
    const given: readonly (readonly [string, string])[] = [
      [USER_HEADER, query.get('user_id') ?? ''],
      [CONTEXT_HEADER, query.get('context_id') ?? SHARED],
      [CHAT_HEADER, first.chat_id ?? ''],
    ]
    for (const [name, value] of given) if (!headers.has(name) && /^[\x21-\x7e]+$/.test(value)) headers.set(name, value)
    if (!/^[\x21-\x7e]+$/.test(first.token)) return this.#close(UNAUTHORIZED, 'The API key is missing or not valid.')
    headers.set('authorization', `Bearer ${first.token}`)
    this.#headers = headers
    const output = await this.#follow(0)
    if (output !== null) void this.#forward(output).catch(() => this.#close(TRY_AGAIN_LATER, 'The output ended. Connect again.'))
  }

  async #resize(bytes: Uint8Array): Promise<void> {
    const { data } = safeParse(Resize(), parsed(bytes))
    if (data !== undefined) return this.#send('size', Buffer.from(JSON.stringify({ cols: data.cols, rows: data.rows })))
    // A message without an effect is a request too.
    await this.#options.admission.messages
      .countRefused({ status: 400, code: 'invalid_request' })
      .catch(() => this.#close(TRY_AGAIN_LATER, 'Too many messages.'))
  }

  async #send(what: 'input' | 'size', body: Uint8Array): Promise<void> {
    const answer = await this.#request(`/${what}`, { method: 'POST', body: Buffer.from(body), signal: this.#stop.signal })
    // A size that is out of range changes nothing.
    if (!answer.ok && !(what === 'size' && answer.status === 400)) await this.#closeFor(answer)
  }

  /** The output after this number; null when it is refused, which closes the connection. */
  async #follow(after: number): Promise<Response | null> {
    const answer = await this.#request(`/output?after=${after}`, { signal: this.#stop.signal })
    if (answer.ok) return answer
    await this.#closeFor(answer)
    return null
  }

  /** Sends what the shell prints until it ends. A stream that the server ends before is resumed. */
  async #forward(first: Response): Promise<void> {
    let last = 0
    for (let output: Response | null = first; output !== null; output = this.#stop.signal.aborted ? null : await this.#follow(last))
      for await (const line of linesOf(output)) {
        const { seq, text, isOver } = Line().parse(JSON.parse(line))
        last = seq ?? last
        if (text !== undefined) await this.#options.peer.send(Buffer.from(text))
        if (isOver === true) return this.#close(NORMAL_CLOSURE, 'The shell has ended.')
      }
  }

  async #request(path: string, init: RequestInit): Promise<Response> {
    const { fetch, sockets, admission } = this.#options
    const headers = new Headers(this.#headers ?? [])
    if (init.body instanceof Uint8Array) headers.set('content-length', String(init.body.byteLength))
    const request = new Request(`${this.#url.origin}${this.#url.pathname}${path}`, { ...init, headers })
    sockets.bind(request, admission)
    return fetch(request)
  }

  async #closeFor(answer: Response): Promise<void> {
    const { detail = '' } = (await answer.json().catch(() => ({}))) as { readonly detail?: string }
    const code = answer.status === 401 || answer.status === 403 ? UNAUTHORIZED : answer.status < 429 ? NOT_FOUND : TRY_AGAIN_LATER
    this.#close(code, detail)
  }

  #close(code: number, reason: string): void {
    if (!this.#stop.signal.aborted) this.#options.peer.close(code, reason.slice(0, MAX_REASON))
  }
}

export const shellSocket: WireSocket = {
  path: /^\/open-webui\/api\/terminals\/[^/]+$/,
  isBinary: true,
  open: (options) => new ShellSocket(options),
}

/** Undefined for what is no JSON. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes, MESSAGE)
  } catch {
    return undefined
  }
}

async function* linesOf({ body }: Response): AsyncGenerator<string, void, undefined> {
  if (body === null) return
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
  }
}
