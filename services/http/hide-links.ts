/** A link to a file (`createLink`). Its random part opens it without a key. Base64 has no colon, so bytes of a picture never look like one. */
const LINK = /(:\/\/[\w.\-:[\]/]{1,300}?\/d\/)[\w-]{43}/g
/** The end of a chunk that may be the beginning of a link. */
const BEGUN = /:(?:\/(?:\/[\w.\-:[\]/]{0,350})?)?$/
const HIDDEN = `$1${'-'.repeat(43)}`
const TEXT = /json|event-stream/

const hide = (text: string): string => text.replace(LINK, HIDDEN)

/** Latin-1 keeps every byte of a chunk as one character, and a link is ASCII. */
const toText = (chunk: Uint8Array): string => Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')

function hiding(): TransformStream<Uint8Array, Uint8Array> {
  let begun = ''
  return new TransformStream({
    transform(chunk, controller) {
      const text = hide(begun + toText(chunk))
      begun = BEGUN.exec(text)?.[0] ?? ''
      if (text.length > begun.length) controller.enqueue(Buffer.from(text.slice(0, text.length - begun.length), 'latin1'))
    },
    flush(controller) {
      if (begun !== '') controller.enqueue(Buffer.from(begun, 'latin1'))
    },
  })
}

/**
 * The answer for a caller without the scope `files`: a link to a file opens without a key, so its random part is replaced. The length stays the same, so the
 * positions of citations remain right.
 */
export function hideLinks(answer: Response): Response {
  const { body, status, statusText, headers } = answer
  if (body === null || !TEXT.test(headers.get('content-type') ?? '')) return answer
  return new Response(body.pipeThrough(hiding()), { status, statusText, headers })
}
