/** Maximum silence of an endpoint, before its first byte and between two bytes, milliseconds. */
const MAX_SILENCE_MS = 600_000
/** Maximum size of an answer, bytes: a hundred times the events of the longest usual answers. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** After the last event, the rest of the answer is read up to this time and size, so that the connection can be reused. */
const DRAIN_MS = 1_000
const DRAIN_BYTES = 64 * 1024

export class AnswerTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`The answer of the model endpoint is longer than ${maxBytes} bytes`)
    this.name = 'AnswerTooLargeError'
  }
}

export interface EndpointFetchOptions {
  readonly maxSilenceMs?: number
  readonly maxAnswerBytes?: number
}

/**
 * Node's `fetch` for model endpoints: its own silence limit, a limit on the bytes of an answer, no redirects (a redirect would carry the conversation
 * to another host), and reuse of connections although the `openai` package stops reading at `[DONE]`.
 */
export function createEndpointFetch({
  maxSilenceMs = MAX_SILENCE_MS,
  maxAnswerBytes = MAX_ANSWER_BYTES,
}: EndpointFetchOptions = {}): typeof fetch {
  return async (input, init) => {
    const dispatcher = withSilenceLimit(maxSilenceMs)
    const response = await fetch(input, { ...init, redirect: 'manual', ...(dispatcher && { dispatcher }) })
    if (response.body === null) return response
    const { status, statusText, headers } = response
    return new Response(limitBody(response.body, maxAnswerBytes, init?.signal ?? null), { status, statusText, headers })
  }
}

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean
}

/**
 * Node's `fetch` gives up after 300 s of silence, and takes another limit only from its dispatcher. This one adds the limit to each request and passes
 * it to the dispatcher of the process, which this symbol names. Null: the default stays.
 */
function withSilenceLimit(maxSilenceMs: number): Dispatcher | null {
  // Node sets the symbol at the first access to its `fetch`; the undici package replaces it.
  if (typeof Response !== 'function') return null
  const current = (globalThis as Readonly<Record<symbol, unknown>>)[Symbol.for('undici.globalDispatcher.1')] as Dispatcher | undefined
  if (typeof current?.dispatch !== 'function') return null
  const limits = { headersTimeout: maxSilenceMs, bodyTimeout: maxSilenceMs }
  return { dispatch: (options, handler) => current.dispatch({ ...options, ...limits }, handler) }
}

function limitBody(body: ReadableStream<Uint8Array>, maxBytes: number, signal: AbortSignal | null): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        bytes += value.length
        if (bytes <= maxBytes) return controller.enqueue(value)
        await reader.cancel()
        throw new AnswerTooLargeError(maxBytes)
      },
      cancel: (reason) => (signal?.aborted === true ? reader.cancel(reason) : void drain(reader)),
    },
    { highWaterMark: 0 },
  )
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  const timer = setTimeout(cancel, DRAIN_MS)
  try {
    for (let bytes = 0; bytes <= DRAIN_BYTES;) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.length
    }
    cancel()
  } catch {
    // The endpoint has closed the connection.
  } finally {
    clearTimeout(timer)
  }
}
