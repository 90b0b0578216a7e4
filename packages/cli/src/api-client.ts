import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { CliError } from './errors.ts'
import { readServerEvents, type ServerEvent } from './server-events.ts'

type Json = Readonly<Record<string, unknown>>

/** Sends a request to a path of the API. Throws CliError when no server answers. */
export type Send = (path: string, init: RequestInit) => Promise<Response>

/** Calls of the API. Every method throws CliError with the server's message. */
export interface ApiClient {
  /** The parsed JSON of a 2xx answer; a call without a body in its answer gives `{}`. */
  call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Json>
  /** The same client, whose calls with a body create one object for this key, however often they are repeated. */
  once(key: string): ApiClient
  /** All entries of a list with OpenAI's envelope, over all its pages. */
  list(path: string): Promise<readonly Json[]>
  /** The server-sent events of a path. With a body it is a POST. */
  events(path: string, body?: unknown, signal?: AbortSignal): AsyncIterable<ServerEvent>
  /** The bytes of an answer. */
  bytes(path: string): Promise<Readable>
  /** The values of an answer with one JSON value per line. */
  lines(path: string): AsyncIterable<unknown>
}

/** Sends to one server with one key. */
export const sendWithKey =
  (url: string, apiKey: string): Send =>
  (path, init) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${apiKey}`)
    return fetch(`${url}${path}`, { ...init, headers }).catch((cause: unknown) => {
      if (init.signal?.aborted) throw cause
      throw new CliError(`No server answers at ${url}. Start one with \`npm start\`, or set CELLBLOCK_URL.`, { cause })
    })
  }

export function createApiClient(request: Send): ApiClient {
  async function send(
    method: string,
    path: string,
    { body, signal }: { readonly body?: unknown; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Response> {
    const response = await request(path, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
    if (!response.ok) throw new CliError(await refusalOf(response), { status: response.status })
    return response
  }
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const text = await (await send(method, path, { body })).text()
    return text === '' ? {} : (JSON.parse(text) as Json)
  }

  async function bytes(path: string): Promise<Readable> {
    const { body } = await send('GET', path)
    return body === null ? Readable.from([]) : Readable.fromWeb(body as NodeReadableStream)
  }

  return {
    call,
    bytes,
    once: (key) =>
      createApiClient((path, init) => {
        const headers = new Headers(init.headers)
        headers.set('idempotency-key', key)
        return request(path, { ...init, headers })
      }),
    async *lines(path) {
      for await (const line of createInterface({ input: await bytes(path) })) yield JSON.parse(line) as unknown
    },
    async list(path) {
      const found: Json[] = []
      for (let after: string | null = ''; after !== null;) {
        const separator = path.includes('?') ? '&' : '?'
        const page = (await call('GET', `${path}${separator}limit=100${after === '' ? '' : `&after=${after}`}`)) as {
          readonly data: readonly Json[]
          readonly has_more?: boolean
        }
        found.push(...page.data)
        after = page.has_more === true ? String(page.data.at(-1)?.['id']) : null
      }
      return found
    },
    async *events(path, body, signal) {
      const response = await send(body === undefined ? 'GET' : 'POST', path, { body, signal })
      if (response.body !== null) yield* readServerEvents(response.body)
    },
  }
}

async function refusalOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { readonly error: { readonly message: string; readonly code?: string | null } }
    return `${forTerminal(error.message, error.code ?? '')} (HTTP ${response.status})`
  } catch {
    return `The server answered HTTP ${response.status}, and not in Cellblock's form. Check the address in CELLBLOCK_URL.`
  }
}

/** What a person at a terminal does instead of calling a route, by the code of the refusal. */
const ADVICE: Readonly<Record<string, string>> = {
  container_not_found: 'List yours with `cellblock containers list`.',
  execution_not_found: 'List yours with `cellblock runs`.',
  file_not_found: 'List those of a container with `cellblock files list CONTAINER`.',
}

/** The API advises to call its routes; a command of this program stands in place of that sentence where there is one. */
export function forTerminal(message: string, code: string): string {
  const advice = ADVICE[code]
  const sentences = message.split(/(?<=[.!?]) (?=[A-Z])/)
  const others = sentences.filter((sentence) => !/\b(?:GET|POST|PUT|DELETE) \/v1\//.test(sentence))
  return advice === undefined || others.length === sentences.length ? message : [...others, advice].join(' ')
}
