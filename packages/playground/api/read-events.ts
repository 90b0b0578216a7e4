import { createParser } from 'eventsource-parser'

export interface ServerEvent {
  readonly event: string
  readonly data: string
}

/** Reads a stream of server-sent events to its end. Rejects when the connection breaks. */
export async function readEvents(response: Response, onEvent: (event: ServerEvent) => void): Promise<void> {
  if (response.body === null) return
  const parser = createParser({ onEvent: ({ event = 'message', data }) => onEvent({ event, data }) })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) parser.feed(next.value)
}
