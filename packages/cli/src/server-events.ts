import { EventSourceParserStream } from 'eventsource-parser/stream'

export interface ServerEvent {
  /** Number of the event, -1 if it has none; the stream can be resumed after it. */
  readonly id: number
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Splits an event stream into its events. Comments, and events whose data is not JSON, are left out. */
export async function* readServerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const text = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
  for await (const { id, event, data } of text.pipeThrough(new EventSourceParserStream())) {
    if (data === '' || data === '[DONE]') continue
    yield {
      id: id === undefined ? -1 : Number(id),
      event: event ?? 'message',
      data: JSON.parse(data) as Readonly<Record<string, unknown>>,
    }
  }
}
