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

/**
 * Answers with frames as they come, at the reader's pace. When the reader goes away the generator is ended and `stop` aborts,
 * so that a wait inside it ends too.
 */
export function sseResponse(frames: AsyncGenerator<string, void, undefined>, stop: AbortController): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await frames.next()
          if (next.done === true) controller.close()
          else controller.enqueue(encoder.encode(next.value))
        } catch (error) {
          controller.error(error)
        }
      },
      async cancel() {
        stop.abort()
        await frames.return()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: 200, headers: SSE_HEADERS })
}
