export interface SseFrame {
  readonly id: string | null
  readonly event: string | null
  readonly data: string
}

/** Yields frames as they arrive. A comment is a frame with the event `comment`. */
export async function* readSse(response: Response): AsyncGenerator<SseFrame, void, undefined> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      yield parseFrame(text.slice(0, end))
      text = text.slice(end + 2)
    }
  }
}

function parseFrame(frame: string): SseFrame {
  const field = (name: string): string | null =>
    frame
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? null
  return { id: field('id'), event: frame.startsWith(':') ? 'comment' : field('event'), data: field('data') ?? '' }
}

export async function collectSse(response: Response): Promise<SseFrame[]> {
  const frames: SseFrame[] = []
  for await (const frame of readSse(response)) frames.push(frame)
  return frames
}
