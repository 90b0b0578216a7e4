import type { Operations } from './api.ts'
import { errorOf } from './errors.ts'
import { readServerEvents, type ServerEvent } from './server-events.ts'

export interface ClientOptions {
  /** The address of the server, without a path: `http://127.0.0.1:8787`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch
}

/** The parts of a call that its operation has. */
export type CallOptions<Name extends keyof Operations> = {
  readonly [Part in 'params' | 'query' | 'body' as Operations[Name][Part] extends undefined ? never : Part]: Part extends 'query'
    ? Operations[Name][Part] | undefined
    : Operations[Name][Part]
} & {
  readonly signal?: AbortSignal
  /** Calls with the same key and body create one object. */
  readonly idempotencyKey?: string
}

export type Execution = Operations['GET /v1/executions/{execution_id}']['answer']
export type UploadedFile = Operations['GET /v1/files/{user_file_id}']['answer']

/** Every upload route accepts parts of this size, bytes. */
const PART_BYTES = 4_000_000
/** A broken event stream is resumed this often without an event between, with these pauses, milliseconds. */
const RESUME_PAUSES_MS = [250, 500, 1_000, 2_000, 4_000] as const
/** The server answers a waiting call after at most this time, seconds. */
const WAIT_SECONDS = 60

/**
 * A client of Cellblock's API. `call` makes any operation of the OpenAPI document with its types; the other methods do what takes several calls.
 * Methods throw `CellblockError` for a refusal of the server.
 *
 * @example
 * const cellblock = new Cellblock({ baseUrl: 'http://127.0.0.1:8787', apiKey: 'ck_…' })
 * const container = await cellblock.call('POST /v1/containers', { body: { name: 'example' } })
 * const execution = await cellblock.run(container.id, { code: 'print(6 * 7)' })
 */
export class Cellblock {
  readonly #baseUrl: string
  readonly #apiKey: string
  readonly #fetch: typeof globalThis.fetch

  constructor({ baseUrl, apiKey, fetch = globalThis.fetch }: ClientOptions) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '')
    this.#apiKey = apiKey
    this.#fetch = fetch
  }

  /** Makes one operation, named by its method and path. */
  async call<Name extends keyof Operations>(name: Name, options: CallOptions<Name>): Promise<Operations[Name]['answer']> {
    const response = await this.#send(name, options)
    const text = await response.text()
    return (text.trim() === '' ? {} : JSON.parse(text)) as Operations[Name]['answer']
  }

  /** Runs code in a container and waits for its end. Code that fails is a result, not an error. */
  async run(
    containerId: string,
    body: Operations['POST /v1/containers/{container_id}/executions']['body'],
    options: { readonly signal?: AbortSignal; readonly idempotencyKey?: string } = {},
  ): Promise<Execution> {
    const started = await this.call('POST /v1/containers/{container_id}/executions', {
      params: { container_id: containerId },
      query: undefined,
      body,
      ...options,
    })
    return started.ended_at === null ? this.waitForExecution(started.id, options) : started
  }

  /** Reads an execution until it has ended. */
  async waitForExecution(executionId: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Execution> {
    for (;;) {
      const execution = await this.call('GET /v1/executions/{execution_id}', {
        params: { execution_id: executionId },
        query: { wait: WAIT_SECONDS },
        ...(signal === undefined ? {} : { signal }),
      })
      if (execution.ended_at !== null) return execution
    }
  }

  /** All events of an execution until `done`. After a lost connection the stream continues behind the last event that arrived. */
  async *events(
    executionId: string,
    { after, signal }: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<ServerEvent, void, undefined> {
    let last = after
    for (let failures = 0; ;) {
      try {
        const response = await this.#send('GET /v1/executions/{execution_id}/events', {
          params: { execution_id: executionId },
          query: last === undefined ? undefined : { after: last },
          ...(signal === undefined ? {} : { signal }),
        })
        for await (const event of readServerEvents(response.body ?? new ReadableStream())) {
          failures = 0
          last = event.id ?? last
          yield event
          if (event.event === 'done') return
        }
      } catch (error) {
        // `fetch` reports a lost connection as a TypeError; a refusal of the server is no reason to repeat.
        if (signal?.aborted || !(error instanceof TypeError)) throw error
        if (failures >= RESUME_PAUSES_MS.length) throw error
      }
      const pause = RESUME_PAUSES_MS[Math.min(failures, RESUME_PAUSES_MS.length - 1)]
      failures += 1
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }

  /** Uploads a file in parts and reports the bytes that have arrived. The file is then named by its id in other calls. */
  async upload(
    data: Blob,
    options: {
      readonly filename: string
      readonly onProgress?: (sentBytes: number, totalBytes: number) => void
      readonly signal?: AbortSignal
    },
  ): Promise<UploadedFile> {
    const { filename, onProgress, signal } = options
    const rest = signal === undefined ? {} : { signal }
    const upload = await this.call('POST /v1/uploads', {
      body: { filename, bytes: data.size, purpose: 'user_data', mime_type: data.type || 'application/octet-stream' },
      ...rest,
    })
    const params = { upload_id: upload.id }
    const partIds: string[] = []
    for (let start = 0; start < data.size || partIds.length === 0; start += PART_BYTES) {
      const body = new FormData()
      body.set('data', data.slice(start, start + PART_BYTES), 'part')
      partIds.push((await this.call('POST /v1/uploads/{upload_id}/parts', { params, body, ...rest })).id)
      onProgress?.(Math.min(start + PART_BYTES, data.size), data.size)
    }
    const { file } = await this.call('POST /v1/uploads/{upload_id}/complete', { params, body: { part_ids: partIds }, ...rest })
    if (file === null || file === undefined) throw new Error('The server completed the upload without a file')
    return file
  }

  /** The bytes of a file of a container. */
  async download(containerId: string, fileId: string): Promise<Blob> {
    const params = { container_id: containerId, file_id: fileId }
    return (await this.#send('GET /v1/containers/{container_id}/files/{file_id}/content', { params })).blob()
  }

  async #send<Name extends keyof Operations>(name: Name, options: CallOptions<Name>): Promise<globalThis.Response> {
    const { params, query, body, signal, idempotencyKey } = options as {
      readonly params?: { readonly [name: string]: string }
      readonly query?: { readonly [name: string]: unknown }
      readonly body?: unknown
      readonly signal?: AbortSignal
      readonly idempotencyKey?: string
    }
    const [method = 'GET', template = ''] = name.split(' ')
    const path = template.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(params?.[part] ?? ''))
    const isForm = body instanceof FormData
    const response = await this.#fetch(`${this.#baseUrl}${path}${queryText(query)}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#apiKey}`,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (!response.ok) throw await errorOf(response)
    return response
  }
}

function queryText(query: { readonly [name: string]: unknown } = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined && one !== null) search.append(name, String(one))
  return search.size === 0 ? '' : `?${search.toString()}`
}
