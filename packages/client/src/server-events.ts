export interface ServerEvent {
  /** Null for an event without a number. */
  readonly id: number | null
  readonly event: string
  readonly data: { readonly [field: string]: unknown }
}

/** Splits an event stream into its events. Comments are left out. */
export async function* readServerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) {
        const event = parseFrame(frame)
        if (event !== null) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function parseFrame(frame: string): ServerEvent | null {
  const fields = new Map<string, string>()
  for (const line of frame.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart())
  }
  const data = fields.get('data')
  if (data === undefined || data === '[DONE]') return null
  const id = fields.get('id')
  return {
    id: id === undefined ? null : Number(id),
    event: fields.get('event') ?? 'message',
    data: JSON.parse(data) as ServerEvent['data'],
  }
}
