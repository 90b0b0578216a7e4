/** CloudFront closes a connection after 120 s without a byte from the origin, or after 60 s in some accounts. */
const KEEP_ALIVE_MS = 20_000
/** JSON allows whitespace before the value, and every client library skips it. */
const WHITESPACE = new TextEncoder().encode('\n')

export interface KeepAliveOptions {
  /** Time without a byte after which the response sends whitespace, milliseconds. */
  readonly intervalMs?: number
  /** The JSON text to send if `answer` rejects after the status has been sent. */
  readonly onError: (error: unknown) => string
}

/**
 * Keeps the connection of a slow call open. An answer within one interval passes unchanged. Later the status 200 is sent, then whitespace in each
 * interval, then the body of the answer; so the answer must be JSON with status 200.
 */
export async function keepAliveJson(
  answer: Promise<Response>,
  { intervalMs = KEEP_ALIVE_MS, onError }: KeepAliveOptions,
): Promise<Response> {
  let timer: NodeJS.Timeout | undefined
  const isSlow = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, intervalMs, null)
  })
  const first = await Promise.race([answer, isSlow]).finally(() => clearTimeout(timer))
  if (first !== null) return first
  return new Response(whitespaceThenBody(answer, intervalMs, onError), { status: 200, headers: { 'content-type': 'application/json' } })
}

function whitespaceThenBody(
  answer: Promise<Response>,
  intervalMs: number,
  onError: KeepAliveOptions['onError'],
): ReadableStream<Uint8Array> {
  let interval: NodeJS.Timeout
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(WHITESPACE)
      interval = setInterval(() => controller.enqueue(WHITESPACE), intervalMs)
      const body = answer.then((response) => response.text()).catch(onError)
      void body
        .then((text) => {
          clearInterval(interval)
          controller.enqueue(new TextEncoder().encode(text))
          controller.close()
        })
        .catch(() => undefined)
    },
    cancel: () => clearInterval(interval),
  })
}
