import { ServiceError } from '../model/errors.ts'
import { costFault, DOCUMENT, type JsonBounds } from '../model/scan-json.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Throws ServiceError `invalid_json`. The value is within the bounds and has no `__proto__` key. */
export function parseJson(bytes: Uint8Array, bounds: JsonBounds = DOCUMENT): unknown {
  if (bytes.byteLength === 0) throw new ServiceError('invalid_json', 'The request has no body. Send a JSON object.')
  const fault = costFault(bytes, bounds)
  if (fault !== null) throw new ServiceError('invalid_json', `The JSON body ${fault}`)
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch (cause) {
    throw new ServiceError('invalid_json', 'The request body is not valid UTF-8. Send JSON encoded as UTF-8.', { cause })
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ServiceError('invalid_json', `The request body is not valid JSON: ${reason(cause)}. Send a JSON object.`, { cause })
  }
}

/** The parser's message without the part of the document that it quotes. */
const reason = (cause: unknown): string =>
  (cause instanceof Error ? (cause.message.split(/, "|, \.\.\.|\n/, 1)[0] ?? 'it cannot be read') : 'it cannot be read').slice(0, 120)
