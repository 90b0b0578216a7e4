import { ServiceError } from '../model/errors.ts'
import { LIMITS } from '../model/limits.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })
const QUOTE = 34
const BACKSLASH = 92

/** Nesting depth of arrays and objects, without parsing. Wrong only for text that is not JSON. */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
    } else if (code === 91 || code === 123) {
      depth++
      if (depth > deepest) deepest = depth
    } else if (code === 93 || code === 125) depth--
  }
  return deepest
}

/** `__proto__` as a key, also written with escapes. */
const MAYBE_PROTO = /__proto__|\\u00(5f|70|72|6f|74)/i

/** Throws ServiceError `invalid_json`. The value has no `__proto__` key and is at most LIMITS.maxJsonDepth deep. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) throw new ServiceError('invalid_json', 'The request has no body. Send a JSON object.')
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (cause) {
    throw new ServiceError('invalid_json', 'The request body is not valid UTF-8. Send JSON encoded as UTF-8.', { cause })
  }
  if (jsonDepth(text) > LIMITS.maxJsonDepth)
    throw new ServiceError('invalid_json', `The JSON body is nested deeper than ${LIMITS.maxJsonDepth} levels. Send a flatter document.`)
  try {
    return MAYBE_PROTO.test(text)
      ? JSON.parse(text, (key: string, value: unknown) => (key === '__proto__' ? undefined : value))
      : JSON.parse(text)
  } catch (cause) {
    throw new ServiceError('invalid_json', `The request body is not valid JSON: ${reason(cause)}. Send a JSON object.`, { cause })
  }
}

/** The parser's message without the part of the document that it quotes. */
const reason = (cause: unknown): string =>
  (cause instanceof Error ? (cause.message.split(/, "|, \.\.\.|\n/, 1)[0] ?? 'it cannot be read') : 'it cannot be read').slice(0, 120)
