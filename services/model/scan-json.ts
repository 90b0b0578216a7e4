import { LIMITS } from './limits.ts'

const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92
const OPEN_ARRAY = 91
const CLOSE_ARRAY = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
/** So many bytes of a string are read one by one; then `indexOf`, which is faster per byte and slower to start, finds the next quote. */
const STEP_BYTES = 64
const LOWERCASE_U = 117
const ESCAPE_BYTES = 6
const PROTO = Array.from('__proto__', (character) => character.charCodeAt(0))

export interface JsonBounds {
  /** Nesting of arrays and objects. */
  readonly maxDepth: number
  readonly maxValues: number
  /** Keys of one object. */
  readonly maxKeys: number
}

export interface JsonScan {
  readonly depth: number
  /** Arrays, objects and what they contain. An empty array or object counts as two. */
  readonly values: number
  /** Keys of the object that has the most. */
  readonly keys: number
  /** Whether a key is `__proto__`, also if it is written with escapes. */
  readonly hasProtoKey: boolean
}

/**
 * Measures a document before it is parsed: the cost of parsing and checking it depends on its values, not on its bytes. The scan ends as soon as a bound
 * is exceeded or a key is `__proto__`. Bytes that are not JSON may be measured wrongly; the parser refuses them.
 */
export function scanJson(bytes: Uint8Array, { maxDepth, maxValues, maxKeys }: JsonBounds): JsonScan {
  const { length } = bytes
  let level = 0
  let depth = 0
  let values = 1
  let keys = 0
  /** Keys of the open object of each level. */
  const keysAt = new Uint32Array(maxDepth + 2)
  // Start and end of the last string: a key, if a colon follows.
  let from = 0
  let to = 0
  for (let at = 0; at < length; at++) {
    const code = bytes[at]
    if (code === QUOTE) {
      from = at + 1
      to = endOfString(bytes, from)
      at = to
    } else if (code === COMMA) {
      if (++values > maxValues) break
    } else if (code === COLON) {
      if (to - from >= PROTO.length && isProto(bytes, from, to)) return { depth, values, keys, hasProtoKey: true }
      to = from
      const own = (keysAt[level] ?? 0) + 1
      keysAt[level] = own
      if (own > keys && (keys = own) > maxKeys) break
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++level > depth) depth = level
      if (++values > maxValues || depth > maxDepth) break
      keysAt[level] = 0
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) level--
  }
  return { depth, values, keys, hasProtoKey: false }
}

/** The position of the closing quote; the number of bytes if there is none. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from
  for (;;) {
    const stepEnd = Math.min(bytes.length, at + STEP_BYTES)
    for (; at < stepEnd; at++) {
      const code = bytes[at]
      if (code === QUOTE) return at
      if (code === BACKSLASH) at++
    }
    if (at >= bytes.length) return bytes.length
    const quote = bytes.indexOf(QUOTE, at)
    if (quote === -1) return bytes.length
    // Backslashes before the quote escape each other in pairs; one that is left over escapes the quote.
    let before = quote
    while (before > at && bytes[before - 1] === BACKSLASH) before--
    if ((quote - before) % 2 === 0) return quote
    at = quote + 1
  }
}

/** Whether the string is `__proto__`, each character as it is or as `\u005f`. */
function isProto(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from
  for (const code of PROTO) {
    if (bytes[at] === code) at++
    else if (bytes[at] === BACKSLASH && bytes[at + 1] === LOWERCASE_U && isHex(bytes, at + 2, code)) at += ESCAPE_BYTES
    else return false
  }
  return at === to
}

/** Whether the next four characters are the hexadecimal form of `code`, which is below 128. */
const isHex = (bytes: Uint8Array, at: number, code: number): boolean =>
  Number.parseInt(String.fromCharCode(bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0, bytes[at + 3] ?? 0), 16) === code

/** Of a request. */
export const DOCUMENT: JsonBounds = { maxDepth: LIMITS.maxJsonDepth, maxValues: LIMITS.maxJsonValues, maxKeys: LIMITS.maxJsonKeys }
/** Of one message of a protocol for short calls. */
export const MESSAGE: JsonBounds = { ...DOCUMENT, maxValues: LIMITS.maxMessageValues }

/** Why a document is refused before it is parsed, and what to do; null for one within the bounds. */
export function costFault(bytes: Uint8Array, bounds: JsonBounds): string | null {
  const { depth, values, keys, hasProtoKey } = scanJson(bytes, bounds)
  if (depth > bounds.maxDepth) return `is nested deeper than ${bounds.maxDepth} levels. Send a flatter document.`
  if (values > bounds.maxValues) return `has more than ${bounds.maxValues} values. Send fewer entries, or upload the data as a file.`
  if (keys > bounds.maxKeys) return `has an object with more than ${bounds.maxKeys} keys. Send a list, or upload the data as a file.`
  return hasProtoKey ? 'has the key "__proto__". Rename or remove this key.' : null
}

/** A display of at most 10 MiB may be a chart of many points. */
const DISPLAY: JsonBounds = { ...DOCUMENT, maxValues: 1_000_000 }

/** A stored display of JSON as a value. Its text when it is malformed, or when parsing it would cost more than its size shows. */
export function displayValue(bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes).toString('utf8')
  if (costFault(bytes, DISPLAY) !== null) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** JSON that a sandbox wrote; undefined if it is malformed or exceeds the bounds of a request. */
export function parseHostileJson(text: string): unknown {
  if (costFault(Buffer.from(text), DOCUMENT) !== null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
