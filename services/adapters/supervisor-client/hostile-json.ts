import { SupervisorError } from '../../ports/supervisor.ts'

export const MAX_JSON_DEPTH = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Parses JSON that user code may have shaped: at most 64 levels deep, and no `__proto__` key survives. Throws SupervisorError `protocol`.
 * Text inside strings is skipped at the speed of memchr, so that a large image costs next to nothing.
 */
export function parseHostileJson(bytes: Buffer): unknown {
  if (isDeeperThan(bytes, MAX_JSON_DEPTH))
    throw new SupervisorError('protocol', `The sandbox sent JSON nested deeper than ${MAX_JSON_DEPTH} levels.`)
  const text = bytes.toString('utf8')
  try {
    return mayNameProto(text) ? JSON.parse(text, withoutProto) : JSON.parse(text)
  } catch (error) {
    throw new SupervisorError('protocol', 'The sandbox sent something that is not JSON.', { cause: error })
  }
}

/** A key may also contain its characters as escapes. */
const mayNameProto = (text: string): boolean => text.includes('__proto__') || /\\u00(5f|6f|7[024])/i.test(text)
const withoutProto = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value)

function isDeeperThan(bytes: Buffer, limit: number): boolean {
  let depth = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) {
      i = endOfString(bytes, i)
      if (i < 0) return false
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > limit) return true
    } else if (byte === 0x5d || byte === 0x7d) depth--
  }
  return false
}

/** Index of the quote that closes the string opened at `start`, or −1. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let before = end - 1
    while (bytes[before] === BACKSLASH) before--
    if ((end - before) % 2 === 1) return end
  }
  return -1
}
