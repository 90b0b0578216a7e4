export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that buffer would hold events back.
  'x-accel-buffering': 'no',
} as const

export const SSE_COMMENT = ': keep-alive\n\n'

/** One frame. `data` is JSON without line breaks. */
export const sseFrame = (frame: { readonly id?: number; readonly event: string; readonly data: unknown }): string =>
  `${frame.id === undefined ? '' : `id: ${frame.id}\n`}event: ${frame.event}\ndata: ${JSON.stringify(frame.data)}\n\n`

const encoder = new TextEncoder()

/** How a stream ended: complete, closed by its reader, or broken here. */
export type StreamOutcome = 'ok' | 'left' | 'failed'

/**
 * Answers with frames as they come, at the reader's pace. When the reader goes away the generator is ended and `stop` aborts, so that a
 * wait inside it ends too. `onEnd` is called once.
 */
export function sseResponse(
  frames: AsyncGenerator<string, void, undefined>,
  stop: AbortController,
  onEnd: (outcome: StreamOutcome, frames: number) => void,
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
            controller.close()
            onEnd('ok', count)
          } else {
            count++
            controller.enqueue(encoder.encode(next.value))
          }
        } catch (error) {
          if (isLeft) return
          // The reader sees the connection break, and can resume after the last number that it has.
          controller.error(error)
          onEnd('failed', count)
        }
      },
      async cancel() {
        isLeft = true
        stop.abort()
        onEnd('left', count)
        await frames.return()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: 200, headers: SSE_HEADERS })
}
