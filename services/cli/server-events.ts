export interface ServerEvent {
  /** Number of the event; the stream can be taken up again after it. */
  readonly id: number
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Splits an event stream into its events. Comments are left out. */
export async function* readServerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const frames = (rest + text).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const event = parseFrame(frame)
      if (event !== null) yield event
    }
  }
}

function parseFrame(frame: string): ServerEvent | null {
  const fields = new Map(frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]))
  const data = fields.get('data')
  if (data === undefined) return null
  return {
    id: Number(fields.get('id') ?? -1),
    event: fields.get('event') ?? 'message',
    data: JSON.parse(data) as Readonly<Record<string, unknown>>,
  }
}
