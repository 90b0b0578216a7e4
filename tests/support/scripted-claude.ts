import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface ToolCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

interface SessionEvent {
  readonly type: string
  readonly id: string
  readonly [field: string]: unknown
}

/** Called when a request has arrived, and again before it is answered. `step` is its method and path without ids. */
export type OnStep = (step: string, when: 'before' | 'after') => void

/** A relay passes requests to another server, whose steps are those of this one. */
const RELAYED = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive'])

/**
 * Speaks the part of Anthropic's protocol that a worker of a self-hosted environment uses: a queue with one session, whose agent makes the given tool
 * calls one after another. It is as strict as documented: the environment key only for polling and acknowledging, the token of the item for
 * everything else, heartbeats with the expected predecessor, one result per call.
 */
export class ScriptedClaude {
  readonly environmentId = 'env_test'
  readonly environmentKey = 'test-environment-key'
  readonly sessionId = `sesn_${randomUUID().replaceAll('-', '')}`
  readonly #calls: readonly ToolCall[]
  readonly #onStep: OnStep
  readonly #server = createServer((request, response) => void this.#handle(request, response))
  readonly #events: SessionEvent[] = []
  readonly #streams = new Set<ServerResponse>()
  readonly results = new Map<string, { readonly text: string; readonly isError: boolean }[]>()
  /** Refused requests, which a correct worker never makes. */
  readonly refused: string[] = []
  #state: 'queued' | 'starting' | 'active' | 'stopped' = 'queued'
  #lastHeartbeat: string | null = null
  #beats = 0
  #made = 0

  constructor(calls: readonly ToolCall[], onStep: OnStep = () => undefined) {
    this.#calls = calls
    this.#onStep = onStep
    this.#makeCall()
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  /** Whether the agent has had a result for each of its calls. */
  get isDone(): boolean {
    return this.results.size === this.#calls.length
  }

  /** What happens when no heartbeat arrives in time: another worker may have the item. */
  expireLease(): void {
    this.#lastHeartbeat = null
    if (this.#state !== 'stopped') this.#state = 'queued'
  }

  #makeCall(): void {
    const call = this.#calls[this.#made]
    if (call === undefined) this.#add({ type: 'session.status_idle', id: 'sevt_idle', stop_reason: { type: 'end_turn' } })
    else this.#add({ type: 'agent.tool_use', id: `sevt_call_${this.#made++}`, ...call, evaluated_permission: 'allow' })
  }

  #add(event: SessionEvent): void {
    this.#events.push(event)
    for (const stream of this.#streams) stream.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://claude')
    const step = `${request.method} ${path.replace(/env_test|work_1|sesn_\w+/g, '*')}`
    const sent = request.method === 'POST' ? ((await json(request).catch(() => ({}))) as Readonly<Record<string, unknown>>) : {}
    const body = { ...sent, ...Object.fromEntries(searchParams) }
    this.#onStep(step, 'before')
    const [status, answer] = this.#answer({
      step,
      body,
      key: request.headers.authorization ?? '',
      beta: String(request.headers['anthropic-beta']),
    })
    if (status >= 400) this.refused.push(`${step}: ${status}`)
    if (status === 200 && step.endsWith('/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      this.#streams.add(response)
      response.once('close', () => this.#streams.delete(response))
      this.#onStep(step, 'after')
      return
    }
    this.#onStep(step, 'after')
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }

  #answer({
    step,
    body,
    key,
    beta,
  }: {
    readonly step: string
    readonly body: Readonly<Record<string, unknown>>
    readonly key: string
    readonly beta: string
  }): [number, unknown] {
    if (!beta.includes('managed-agents-2026-04-01'))
      return [400, { error: { type: 'invalid_request_error', message: 'the beta header is missing' } }]
    const wanted = /work\/(?:poll|\*\/ack)$/.test(step) ? this.environmentKey : 'test-sessions-token'
    if (key !== `Bearer ${wanted}`) return [401, { error: { type: 'authentication_error', message: `not the key for ${step}` } }]
    switch (step) {
      case 'GET /v1/environments/*/work/poll':
        return [200, this.#poll()]
      case 'POST /v1/environments/*/work/*/ack':
        this.#state = 'active'
        return [200, this.#work()]
      case 'POST /v1/environments/*/work/*/heartbeat':
        return this.#heartbeat(body)
      case 'POST /v1/environments/*/work/*/stop':
        this.#state = 'stopped'
        return [200, this.#work()]
      case 'GET /v1/sessions/*':
        return [200, { id: this.sessionId, type: 'session', status: 'running', resources: [], agent: { skills: [] } }]
      case 'GET /v1/sessions/*/events':
        return [200, { data: this.#events, next_page: null }]
      case 'GET /v1/sessions/*/events/stream':
        return [200, null]
      case 'POST /v1/sessions/*/events':
        return this.#receive(body)
      default:
        return [404, { error: { type: 'not_found_error', message: step } }]
    }
  }

  #poll(): unknown {
    if (this.#state !== 'queued') return null
    this.#state = 'starting'
    return this.#work()
  }

  #work(): unknown {
    const secret = Buffer.from(JSON.stringify({ sessions_token: 'test-sessions-token' })).toString('base64url')
    return {
      id: 'work_1',
      type: 'work',
      state: this.#state,
      environment_id: this.environmentId,
      data: { type: 'session', id: this.sessionId },
      secret,
    }
  }

  #heartbeat({ expected_last_heartbeat: expected }: Readonly<Record<string, unknown>>): [number, unknown] {
    if (expected !== (this.#lastHeartbeat ?? 'NO_HEARTBEAT'))
      return [
        412,
        {
          error: {
            type: 'invalid_request_error',
            message: 'heartbeat_precondition_failed',
            details: { current_state: { state: this.#state } },
          },
        },
      ]
    this.#lastHeartbeat = `beat-${++this.#beats}`
    return [200, { type: 'work_heartbeat', lease_extended: true, state: this.#state, ttl_seconds: 90, last_heartbeat: this.#lastHeartbeat }]
  }

  #receive(body: Readonly<Record<string, unknown>>): [number, unknown] {
    interface Result {
      readonly type: string
      readonly tool_use_id: string
      readonly is_error?: boolean
      readonly content: readonly { readonly text?: string }[]
    }
    for (const event of body['events'] as readonly Result[]) {
      const known = this.results.get(event.tool_use_id) ?? []
      this.results.set(event.tool_use_id, [
        ...known,
        { text: event.content.map(({ text = '' }) => text).join(''), isError: event.is_error === true },
      ])
      this.#add({ ...event, id: `sevt_result_${this.#events.length}` })
      if (known.length === 0) this.#makeCall()
    }
    return [200, { data: [] }]
  }
}

/** Relays requests to `target`, and reports their steps. Nothing waits for the end of an execution, so a worker asks for it more than once. */
export async function startRelay(target: string, onStep: OnStep): Promise<{ readonly url: string; stop(): void }> {
  const relay = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const step = `${request.method} ${(request.url ?? '').replace(/\?.*/, '').replace(/(?:cntr|exec)_[a-z0-9]+/g, '*')}`
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    onStep(step, 'before')
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === 'string' && !RELAYED.has(name) ? [[name, value] as [string, string]] : [],
    )
    const body = Buffer.concat(parts)
    const url = `${target}${request.url?.replace('wait=60', 'wait=0')}`
    const answer = await fetch(url, { method: request.method ?? 'GET', headers, ...(body.length > 0 && { body }) })
    const text = await answer.text()
    onStep(step, 'after')
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  }
  const server = createServer((request, response) => void relay(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => void (server.close(), server.closeAllConnections()),
  }
}
