export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Asks proxies not to buffer events.
  'x-accel-buffering': 'no',
} as const

export const SSE_COMMENT = ': keep-alive\n\n'

/** One frame. `data` is JSON without line breaks. */
export const sseFrame = (frame: { readonly id?: number; readonly event: string; readonly data: unknown }): string =>
  `${frame.id === undefined ? '' : `id: ${frame.id}\n`}event: ${frame.event}\ndata: ${JSON.stringify(frame.data)}\n\n`

const encoder = new TextEncoder()

/** How a stream ended: complete, closed by its reader, or failed on the server. */
export type StreamOutcome = 'ok' | 'left' | 'failed'

/**
 * Answers with frames at the reader's speed. When the reader disconnects, the generator is ended and `stop` aborts, so that a wait inside it ends as
 * well. `onEnd` is called once. `headers` are those of server-sent events, or of another kind of stream.
 */
export function sseResponse(
  frames: AsyncGenerator<string | Uint8Array, void, undefined>,
  {
    stop,
    onEnd,
    headers = SSE_HEADERS,
  }: {
    readonly stop: AbortController
    readonly onEnd: (outcome: StreamOutcome, frames: number) => Promise<void>
    readonly headers?: Readonly<Record<string, string>> | undefined
  },
): Response {
  let count = 0
  let isLeft = false
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await frames.next()
          if (isLeft) return
          if (next.done === true) {
            // A function is frozen after the last byte.
            await onEnd('ok', count)
            if (!isLeft) controller.close()
          } else {
            count++
            controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : next.value)
          }
        } catch (error) {
          if (isLeft) return
          // The reader sees a broken connection, and can resume after its last number.
          await onEnd('failed', count)
          controller.error(error)
        }
      },
      async cancel() {
        isLeft = true
        stop.abort()
        await onEnd('left', count)
        await frames.return()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: 200, headers })
}
