import createClient, { type Client } from 'openapi-fetch'
import type { Execution, paths, RunCode, UserFile } from './api.ts'
import { errorOf } from './errors.ts'
import type { Answer, CallOptions, OperationName, StreamingName, StreamRequest } from './operation-types.ts'
import { readLines, readServerEvents, type ServerEvent } from './server-events.ts'

export interface ClientOptions {
  /** The address of the server, without a path: `http://127.0.0.1:8787`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: (request: Request) => Promise<Response>
}

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
  readonly #http: Client<paths>

  constructor({ baseUrl, apiKey, fetch }: ClientOptions) {
    this.#http = createClient<paths>({
      baseUrl,
      headers: { authorization: `Bearer ${apiKey}` },
      ...(fetch === undefined ? {} : { fetch }),
    })
  }

  /**
   * Makes one operation, named by its method and path. With `stream: true` the answer is the stream of events; the answer of an operation with files is
   * a `Blob`.
   */
  call<Name extends StreamingName>(
    name: Name,
    options: CallOptions<Name> & StreamRequest<Name>,
  ): Promise<AsyncGenerator<ServerEvent, void, undefined>>
  call<Name extends OperationName>(
    name: Name,
    ...options: object extends CallOptions<Name> ? [options?: CallOptions<Name>] : [options: CallOptions<Name>]
  ): Promise<Answer<Name>>
  call(name: OperationName, options: AnyOptions = {}): Promise<unknown> {
    return this.#send(name, options).then(readAnswer)
  }

  /** Runs code in a container and waits for its end. Code that fails is a result, not an error. */
  async run(
    containerId: string,
    body: RunCode,
    options: { readonly signal?: AbortSignal; readonly idempotencyKey?: string } = {},
  ): Promise<Execution> {
    const started = await this.call('POST /v1/containers/{container_id}/executions', {
      params: { container_id: containerId },
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
        const events = await this.call('GET /v1/executions/{execution_id}/events', {
          params: { execution_id: executionId },
          ...(last === undefined ? {} : { query: { after: last } }),
          ...(signal === undefined ? {} : { signal }),
        })
        for await (const event of events) {
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
  ): Promise<UserFile> {
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
  download(containerId: string, fileId: string): Promise<Blob> {
    const params = { container_id: containerId, file_id: fileId }
    return this.call('GET /v1/containers/{container_id}/files/{file_id}/content', { params })
  }

  async #send(name: OperationName, { params, query, body, signal, idempotencyKey }: AnyOptions): Promise<Response> {
    const [method, path] = name.split(' ') as [string, '/v1/models']
    const init = {
      params: { path: params, query },
      body,
      parseAs: 'stream',
      ...(signal === undefined ? {} : { signal }),
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
    }
    // The types of `call` have checked the parts; here the operation is any.
    const { response, error } = await this.#http.request(method.toLowerCase() as 'get', path, init as never)
    if (!response.ok) throw errorOf(response, error)
    return response
  }
}

/** The parts of any operation. */
interface AnyOptions {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly idempotencyKey?: string
}

async function readAnswer(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? ''
  const body = response.body ?? new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })
  if (type.startsWith('text/event-stream')) return readServerEvents(body)
  if (type.startsWith('application/x-ndjson')) return readLines(body)
  return /^application\/(?:[\w.-]+\+)?json/.test(type) ? response.json() : response.blob()
}
