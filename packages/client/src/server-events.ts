import { EventSourceParserStream } from 'eventsource-parser/stream'

export interface ServerEvent {
  /** Null for an event without a number. */
  readonly id: number | null
  readonly event: string
  readonly data: { readonly [field: string]: unknown }
}

/** Splits an event stream into its events. Comments and the closing `[DONE]` are left out. */
export async function* readServerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const events = textOf(body).pipeThrough(new EventSourceParserStream())
  for await (const { id, event, data } of piecesOf(events)) {
    if (data === '' || data === '[DONE]') continue
    yield { id: id === undefined ? null : Number(id), event: event ?? 'message', data: JSON.parse(data) as ServerEvent['data'] }
  }
}

/** The values of a stream with one JSON value in each line. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  let rest = ''
  for await (const piece of piecesOf(textOf(body))) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as unknown
  }
  if (rest.trim() !== '') yield JSON.parse(rest) as unknown
}

const textOf = (body: ReadableStream<Uint8Array>): ReadableStream<string> =>
  body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)

/** Not every browser can iterate over a stream. The source is cancelled when the reader stops early. */
async function* piecesOf<Piece>(stream: ReadableStream<Piece>): AsyncGenerator<Piece, void, undefined> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
