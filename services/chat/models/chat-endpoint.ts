import { setTimeout as delay } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { Pool, type Dispatcher } from 'undici'
import { isRetryable, retryPause } from './retry-pause.ts'

export interface Endpoint {
  readonly baseUrl: string
  /** Local servers want none. */
  readonly apiKey: string | null
}

/** A refusal in the endpoint's own words, which may hold prompts or keys. `status` is null when it came inside an answer that had begun. */
export class EndpointError extends Error {
  readonly status: number | null
  readonly code: string | null
  constructor(status: number | null, said: unknown) {
    const { message, code } = wordsOf(said)
    super(message)
    this.name = 'EndpointError'
    this.status = status
    this.code = code
  }
}

/** Before the answer begins, a request is sent again this often on 408, 409, 429, 5xx and broken connections. */
const MAX_RETRIES = 2
/** A model may think this long without a word, milliseconds. */
const SILENCE_MS = 600_000
const DONE = '[DONE]'

/**
 * `POST /chat/completions` with a streamed answer, on connections that are kept open. Yields the JSON documents of the answer as they come. Throws
 * EndpointError for a refusal, the signal's reason when it fires, and whatever broke the connection.
 */
export function createChatEndpoint({ baseUrl, apiKey }: Endpoint): (request: object, signal: AbortSignal) => AsyncGenerator<unknown, void> {
  const { origin, pathname, search } = new URL(baseUrl)
  const pool = new Pool(origin, { allowH2: false, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS })
  const target = {
    method: 'POST' as const,
    path: `${pathname.replace(/\/+$/, '')}/chat/completions${search}`,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'user-agent': 'cellblock',
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
  }

  async function ask(body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    for (let tries = 1; ; tries++) {
      signal.throwIfAborted()
      const answer = await pool.request({ ...target, body, signal }).catch((cause: unknown) => {
        if (signal.aborted || tries > MAX_RETRIES) throw cause
        return null
      })
      if (answer !== null && answer.statusCode < 300) return answer
      if (answer !== null && (tries > MAX_RETRIES || !isRetryable(answer.statusCode, answer.headers)))
        throw new EndpointError(answer.statusCode, parsed(await answer.body.text()))
      await answer?.body.dump()
      await delay(retryPause(answer?.headers ?? {}, tries, Date.now()), undefined, { signal })
    }
  }

  return async function* (request, signal) {
    const { body } = await ask(JSON.stringify(request), signal)
    body.setEncoding('utf8')
    const events: EventSourceMessage[] = []
    const parser = createParser({ onEvent: (event) => events.push(event) })
    let isWhole = false
    try {
      for await (const text of body.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
        parser.feed(text)
        for (const { event, data } of events.splice(0)) {
          isWhole = data === DONE
          if (isWhole) return
          yield documentOf(event, data)
        }
      }
    } finally {
      body.on('error', () => undefined)
      // After the last event comes nothing but the end, and with it the connection is free again.
      if (isWhole) void body.dump()
      else body.destroy()
    }
  }
}

function documentOf(event: string | undefined, data: string): unknown {
  const document = JSON.parse(data) as { readonly error?: unknown } | null
  if (event === 'error' || document?.error) throw new EndpointError(null, document)
  return document
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** `{error: {message, code}}`, `{error: "words"}`, `{message}`, or no JSON at all. */
function wordsOf(said: unknown): { readonly message: string; readonly code: string | null } {
  const inner = fieldsOf(said)['error'] ?? said
  const { message, code } = fieldsOf(inner)
  const words = typeof inner === 'string' ? inner : typeof message === 'string' ? message : JSON.stringify(inner)
  return { message: words, code: typeof code === 'string' ? code : null }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === 'object' && value !== null ? { ...value } : {})
