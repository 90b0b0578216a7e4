import { randomBytes, sign, type KeyObject } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request, type Dispatcher } from 'undici'

export interface Health {
  readonly v: number
  readonly sandbox_id: string
  readonly state: 'starting' | 'ready' | 'refused'
  readonly boot_nonce: string
  readonly kernel: string
  readonly kernel_generation: number
  readonly python: string
  readonly refused: readonly string[]
}

export interface WireEvent {
  readonly seq: number
  readonly t: number
  readonly type: string
  readonly [field: string]: unknown
}

export interface Envelope extends WireEvent {
  readonly outcome: string
  readonly run_ms: number
  readonly cpu_ms: number
  readonly peak_memory_bytes: number
  readonly output_bytes: number
  readonly truncated: readonly {
    readonly what: string
    readonly total_bytes: number
    readonly kept_bytes: number
    readonly reason: string
  }[]
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly sha256: string; readonly change: string }[]
  readonly deleted: readonly string[]
  readonly skipped: readonly { readonly path: string; readonly reason: string }[]
  readonly state_lost: { readonly reason: string } | null
  readonly kernel_generation: number
  readonly exit: { readonly code: number | null; readonly signal: number | null } | null
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  readonly trailers: Readonly<Record<string, string>>
}

export type Body = string | Buffer | AsyncIterable<Uint8Array> | undefined

/** Everything an iterable gives. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of source) all.push(one)
  return all
}

const START_TIMEOUT_MS = 90_000

/** A deliberately plain client of the protocol, so that the suite does not depend on the one the product uses. */
export class SupervisorCaller {
  private readonly agent: Agent
  private readonly sandboxId: string
  private readonly key: KeyObject

  constructor(socketPath: string, sandboxId: string, key: KeyObject) {
    this.agent = new Agent({ connect: { socketPath }, headersTimeout: 60_000, bodyTimeout: 60_000 })
    this.sandboxId = sandboxId
    this.key = key
  }

  signature(method: string, target: string, timestamp = Date.now(), nonce = randomBytes(18).toString('base64url')): string {
    const text = ['cellblock-v1', this.sandboxId, method, target, timestamp, nonce].join('\n')
    return `v1 ${timestamp} ${nonce} ${sign(null, Buffer.from(text), this.key).toString('base64url')}`
  }

  async open(
    method: string,
    target: string,
    body?: Body,
    signature: string | null = this.signature(method, target),
  ): Promise<Dispatcher.ResponseData> {
    return request(`http://sandbox${target}`, {
      dispatcher: this.agent,
      method,
      body: typeof body === 'string' || Buffer.isBuffer(body) || !body ? (body ?? null) : Readable.from(body),
      headers: { 'content-type': 'application/octet-stream', ...(signature === null ? {} : { 'cellblock-signature': signature }) },
    })
  }

  async call(method: string, target: string, body?: Body, signature?: string | null): Promise<Answer> {
    const answer = await this.open(method, target, body, signature)
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: answer.headers, body: bytes, trailers: answer.trailers }
  }

  async json<T>(method: string, target: string, body?: unknown): Promise<T> {
    const answer = await this.call(method, target, body === undefined ? undefined : JSON.stringify(body))
    if (answer.status >= 300) throw new Error(`${method} ${target}: ${answer.status} ${answer.body.toString()}`)
    return (answer.body.length ? JSON.parse(answer.body.toString()) : null) as T
  }

  health(waitMs = 0): Promise<Health> {
    return this.call('GET', `/health?wait=${waitMs}`, undefined, null).then((answer) => JSON.parse(answer.body.toString()) as Health)
  }

  /** Waits for the socket to exist and for the state to be no longer `starting`. */
  async untilDecided(): Promise<Health> {
    const deadline = Date.now() + START_TIMEOUT_MS
    for (;;) {
      try {
        // The supervisor itself answers after a while that it still starts.
        const health = await this.health(START_TIMEOUT_MS)
        if (health.state !== 'starting' || Date.now() > deadline) return health
      } catch (error) {
        if (Date.now() > deadline) throw error
        await delay(25)
      }
    }
  }

  /** The events of an execution as they come, from `PUT /executions/{id}` or from `GET …/events`. */
  async *events(method: 'PUT' | 'GET', target: string, body?: unknown): AsyncGenerator<WireEvent> {
    const answer = await this.open(method, target, body === undefined ? undefined : JSON.stringify(body))
    if (answer.statusCode !== 200) throw new Error(`${method} ${target}: ${answer.statusCode} ${await answer.body.text()}`)
    let rest = ''
    const decoder = new TextDecoder('utf-8', { fatal: true })
    for await (const piece of answer.body as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line) as WireEvent
    }
  }

  start(id: string, code: string | readonly string[], options: Readonly<Record<string, unknown>> = {}): AsyncGenerator<WireEvent> {
    const cells = (typeof code === 'string' ? [code] : code).map((text) => ({ code: text }))
    return this.events('PUT', `/executions/${id}`, { v: 1, cells, on_error: 'stop', timeout_ms: 30_000, ...options })
  }

  /** Runs to the end. */
  async run(code: string | readonly string[], options: Readonly<Record<string, unknown>> = {}): Promise<Run> {
    return new Run(await collect(this.start(`exec_${randomBytes(8).toString('hex')}`, code, options)))
  }

  close(): Promise<void> {
    return this.agent.destroy()
  }
}

/** A finished execution. */
export class Run {
  readonly events: readonly WireEvent[]

  constructor(events: readonly WireEvent[]) {
    this.events = events
  }

  get done(): Envelope {
    const last = this.events.at(-1)
    if (last?.type !== 'done') throw new Error(`The last event is ${last?.type ?? 'missing'}`)
    return last as Envelope
  }

  text(name: 'stdout' | 'stderr'): string {
    return this.of('stream')
      .filter((event) => event['name'] === name)
      .map((event) => String(event['text']))
      .join('')
  }

  get stdout(): string {
    return this.text('stdout')
  }

  of(type: string): readonly WireEvent[] {
    return this.events.filter((event) => event.type === type)
  }

  get error(): { readonly name: string; readonly value: string } | undefined {
    return this.of('error')[0] as unknown as { readonly name: string; readonly value: string } | undefined
  }
}
