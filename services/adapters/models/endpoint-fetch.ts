import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'

/** Maximum silence of an endpoint, before its first byte and between two bytes, milliseconds. */
const MAX_SILENCE_MS = 600_000
/** Maximum size of an answer, bytes: a hundred times the events of the longest typical answers. */
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
 * `fetch` of the `openai` package for one model endpoint: its own silence limit, a limit on the bytes of an answer, no redirects (a redirect would carry
 * the conversation to another host), and reuse of connections although the package stops reading at `[DONE]`. It takes two thirds of the processor time
 * of Node's `fetch`.
 */
export function createEndpointFetch({
  maxSilenceMs = MAX_SILENCE_MS,
  maxAnswerBytes = MAX_ANSWER_BYTES,
}: EndpointFetchOptions = {}): typeof fetch {
  const { env } = process
  // As Node's own agents and its `fetch` do.
  const agentOptions = { keepAlive: true, ...(env['NODE_USE_ENV_PROXY'] === '1' && { proxyEnv: env }) }
  const plain = new http.Agent(agentOptions)
  const encrypted = new https.Agent(agentOptions)
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const signal = init.signal ?? undefined
    // The package sends JSON as text.
    const body = typeof init.body === 'string' ? Buffer.from(init.body) : null
    const options: http.RequestOptions = {
      method: init.method ?? 'GET',
      // Answers are not decompressed; without this header an endpoint may compress them (RFC 9110, section 12.5.3).
      headers: {
        'accept-encoding': 'identity',
        ...Object.fromEntries(new Headers(init.headers)),
        ...(body !== null && { 'content-length': body.length }),
      },
      timeout: maxSilenceMs,
    }
    signal?.throwIfAborted()
    const request =
      url.protocol === 'https:' ? https.request(url, { ...options, agent: encrypted }) : http.request(url, { ...options, agent: plain })
    request.on('error', () => undefined)
    request.once('timeout', () => request.destroy(new Error(`The model endpoint was silent for ${maxSilenceMs} ms`)))
    // Not with the option `signal`: it would destroy the connection of an answer that has ended, which another call may use.
    const stop = (): void => void request.destroy(toError(signal?.reason))
    signal?.addEventListener('abort', stop, { once: true })
    request.end(body)
    const [response] = (await once(request, 'response').finally(() => signal?.removeEventListener('abort', stop))) as [http.IncomingMessage]
    const cut = (): void => void response.destroy(toError(signal?.reason))
    signal?.addEventListener('abort', cut, { once: true })
    response.once('close', () => signal?.removeEventListener('abort', cut))
    // The reader of the body receives the error. Without a listener, an abort of an answer without a reader would end the process.
    response.on('error', () => undefined)
    const { statusCode: status = 0, statusMessage: statusText = '' } = response
    const answer = limitBody(response, maxAnswerBytes, signal)
    return new Response(WITHOUT_BODY.has(status) ? null : answer, { status, statusText, headers: headersOf(response) })
  }
}

const toError = (reason: unknown): Error => (reason instanceof Error ? reason : new DOMException('The call was aborted.', 'AbortError'))

/** A `Response` with one of these must have no body. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

const headersOf = ({ headersDistinct }: http.IncomingMessage): [string, string][] =>
  Object.entries(headersDistinct).flatMap(([name, values = []]) => values.map((value): [string, string] => [name, value]))

function limitBody(body: http.IncomingMessage, maxBytes: number, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) return controller.close()
        bytes += value.length
        if (bytes <= maxBytes) return controller.enqueue(value)
        body.destroy()
        throw new AnswerTooLargeError(maxBytes)
      },
      cancel: () => {
        if (signal?.aborted === true) body.destroy()
        else void drain(body, chunks)
      },
    },
    { highWaterMark: 0 },
  )
}

async function drain(body: http.IncomingMessage, chunks: AsyncIterator<Buffer>): Promise<void> {
  const timer = setTimeout(() => body.destroy(), DRAIN_MS)
  try {
    for (let bytes = 0; bytes <= DRAIN_BYTES;) {
      const { done, value } = await chunks.next()
      if (done === true) return
      bytes += value.length
    }
    body.destroy()
  } catch {
    // The endpoint has closed the connection.
  } finally {
    clearTimeout(timer)
  }
}
