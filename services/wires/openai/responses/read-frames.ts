/** One server-sent event with a name and one line of data. */
interface Frame {
  readonly event: string
  readonly data: string
}

/** The events of a stream that `responseFrames` wrote, without comments and the mark at the end. Ends at once when `signal` aborts. */
export async function* readFrames(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Frame, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? []
        if (event !== undefined && data !== undefined) yield { event, data }
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}
