/** The fields of an execution of the native wire that tests read. */
export interface WireExecution {
  readonly id: string
  readonly object: string
  readonly container_id: string
  readonly status: string
  readonly reason: string | null
  readonly created_at: string
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly outputs?: readonly WireOutput[]
  readonly cells?: readonly {
    readonly index: number
    readonly execution_count: number | null
    readonly status: string
    readonly outputs: readonly WireOutput[]
  }[]
  readonly stdout: string
  readonly stderr: string
  readonly error: null | { readonly name: string; readonly value: string; readonly traceback: readonly string[] }
  readonly files: readonly WireFile[]
  readonly lost: readonly { readonly what: string; readonly reason: string }[]
  readonly usage: Readonly<Record<string, number>>
}
export interface WireOutput {
  readonly output_type: string
  readonly name?: string
  readonly text?: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly ename?: string
}
export interface WireFile {
  readonly id: string
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly mime: string
  readonly url: string
  readonly is_new: boolean
  readonly modified_from?: string
}

export interface NativeClient {
  /** Makes any call. A string or bytes body is sent unchanged, anything else as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
  json<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>
  /** With `limits` it gets a new sandbox, because the warm pool has only the default size. */
  createContainer(name?: string, limits?: Readonly<Record<string, number>>): Promise<string>
  /** Waits until it has ended, unless `wait` is 0. */
  run(containerId: string, body: string | Readonly<Record<string, unknown>>, wait?: number): Promise<WireExecution>
  /** Waits until it has ended. */
  ended(executionId: string): Promise<WireExecution>
  /** All events until `done`, with the time in ms since the call. */
  events(executionId: string, after?: number): AsyncGenerator<{ id: number; event: string; data: Record<string, unknown>; atMs: number }>
}

/** `isWhole`: executions have all their outputs up to the documented maximum, instead of previews of those beyond 1 MB. */
export function callNative(url: string, apiKey: string, isWhole = false): NativeClient {
  const inline = isWhole ? '&inline=all' : ''
  const call: NativeClient['call'] = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${apiKey}`, ...(isRaw(body) ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: isRaw(body) ? body : JSON.stringify(body) }),
    })
  const json: NativeClient['json'] = async <T>(method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text) as T
  }
  const ended: NativeClient['ended'] = async (executionId) => {
    for (;;) {
      const execution = await json<WireExecution>('GET', `/v1/executions/${executionId}?wait=60${inline}`)
      if (execution.ended_at !== null) return execution
    }
  }
  return {
    call,
    json,
    createContainer: async (name = 'test', limits) => (await json<{ id: string }>('POST', '/v1/containers', { name, limits })).id,
    run: async (containerId, body, wait = 60) => {
      const execution = await json<WireExecution>(
        'POST',
        `/v1/containers/${containerId}/executions?wait=${wait}${inline}`,
        typeof body === 'string' ? { code: body } : body,
      )
      return wait === 0 || execution.ended_at !== null ? execution : ended(execution.id)
    },
    ended,
    async *events(executionId, after) {
      const began = performance.now()
      const answer = await call('GET', `/v1/executions/${executionId}/events${after === undefined ? '' : `?after=${after}`}`)
      if (!answer.ok || answer.body === null) throw new Error(`events answered ${answer.status}: ${await answer.text()}`)
      let text = ''
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        text += chunk
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const frame = parseFrame(text.slice(0, end))
          text = text.slice(end + 2)
          if (frame !== null) yield { ...frame, atMs: performance.now() - began }
        }
      }
    },
  }
}

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> | FormData | undefined =>
  body === undefined || typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData

function parseFrame(frame: string): { id: number; event: string; data: Record<string, unknown> } | null {
  const fields = new Map(
    frame
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
  )
  const data = fields.get('data')
  return data === undefined
    ? null
    : { id: Number(fields.get('id')), event: fields.get('event') ?? '', data: JSON.parse(data) as Record<string, unknown> }
}
