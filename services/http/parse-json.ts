import { ServiceError } from '../model/errors.ts'
import { LIMITS } from '../model/limits.ts'
import { scanJson, type JsonBounds } from './scan-json.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

const DOCUMENT: JsonBounds = { maxDepth: LIMITS.maxJsonDepth, maxValues: LIMITS.maxJsonValues, maxKeys: LIMITS.maxJsonKeys }
/** Of one message of a protocol for short calls. */
export const MESSAGE: JsonBounds = { ...DOCUMENT, maxValues: LIMITS.maxMessageValues }

/** Throws ServiceError `invalid_json`. The value is within the bounds and has no `__proto__` key. */
export function parseJson(bytes: Uint8Array, bounds: JsonBounds = DOCUMENT): unknown {
  if (bytes.byteLength === 0) throw new ServiceError('invalid_json', 'The request has no body. Send a JSON object.')
  refuseCostly(bytes, bounds)
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

/** JSON that a sandbox wrote; undefined if it is malformed or exceeds the bounds of a request. */
export function parseHostileJson(text: string): unknown {
  try {
    return parseJson(Buffer.from(text))
  } catch {
    return undefined
  }
}

function refuseCostly(bytes: Uint8Array, bounds: JsonBounds): void {
  const { depth, values, keys, hasProtoKey } = scanJson(bytes, bounds)
  const advice = (): string | null => {
    if (depth > bounds.maxDepth) return `is nested deeper than ${bounds.maxDepth} levels. Send a flatter document.`
    if (values > bounds.maxValues) return `has more than ${bounds.maxValues} values. Send fewer entries, or upload the data as a file.`
    if (keys > bounds.maxKeys) return `has an object with more than ${bounds.maxKeys} keys. Send a list, or upload the data as a file.`
    return hasProtoKey ? 'has the key "__proto__". Rename or remove this key.' : null
  }
  const fault = advice()
  if (fault !== null) throw new ServiceError('invalid_json', `The JSON body ${fault}`)
}

/** The parser's message without the part of the document that it quotes. */
const reason = (cause: unknown): string =>
  (cause instanceof Error ? (cause.message.split(/, "|, \.\.\.|\n/, 1)[0] ?? 'it cannot be read') : 'it cannot be read').slice(0, 120)
