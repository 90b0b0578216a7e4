/** The complete arguments of an interpreter call. */
export type CodeArgument =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'unusable'; readonly raw: string; readonly why: string }

/** If the code has not started after this many characters, it is read at the end only. */
const MAX_START_CHARS = 256

/** Extracts the code of `{"code": "…"}` while the model still writes it. The cost of each piece depends on its own length only. */
export class CodeArgumentReader {
  /** Only appended until the end, because each read would copy it. */
  #raw = ''
  /** Text that is not decoded yet: the part before the string, then an incomplete escape, then the part after the string. */
  #rest = ''
  #state: 'start' | 'string' | 'closed' | 'unreadable' = 'start'
  #given = ''

  /** The code that this piece adds; empty while it is not known. */
  push(piece: string): string {
    this.#raw += piece
    if (this.#state === 'unreadable') return ''
    this.#rest += piece
    if (this.#state === 'closed') return ''
    if (this.#state === 'start') {
      const start = codeStart(this.#rest)
      if (start === null && this.#rest.length > MAX_START_CHARS) this.#state = 'unreadable'
      if (start === null) return ''
      this.#rest = this.#rest.slice(start)
      this.#state = 'string'
    }
    const { text, end, isClosed } = decodeString(this.#rest)
    this.#rest = this.#rest.slice(end)
    if (isClosed) this.#state = 'closed'
    this.#given += text
    return text
  }

  /** Code that `push` has returned. */
  get given(): string {
    return this.#given
  }

  /** The whole code, parsed strictly; also accepts a string with raw line breaks, and plain Python instead of JSON. */
  finish(): CodeArgument {
    const raw = this.#raw.trim()
    if (raw === '') return { kind: 'unusable', raw, why: 'the arguments are empty' }
    const parsed = parse(raw)
    if (typeof parsed === 'string') return { kind: 'code', code: parsed }
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      const code = (parsed as { code?: unknown }).code
      return typeof code === 'string' ? { kind: 'code', code } : { kind: 'unusable', raw, why: 'there is no string "code" in them' }
    }
    if (parsed === undefined && this.#state === 'closed' && this.#rest.trim() === '}') return { kind: 'code', code: this.#given }
    if (parsed === undefined && !/^[{["]/.test(raw)) return { kind: 'code', code: raw }
    return { kind: 'unusable', raw, why: 'they are not valid JSON' }
  }
}

/** Undefined when it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function codeStart(raw: string): number | null {
  const match = /^\s*\{\s*"code"\s*:\s*"/.exec(raw)
  return match === null ? null : match[0].length
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', '"': '"', '\\': '\\', '/': '/' }

/** Decodes the available part of a JSON string; `end` is where it stopped. An incomplete escape or surrogate pair waits for its rest. */
function decodeString(raw: string): { text: string; end: number; isClosed: boolean } {
  let text = ''
  let at = 0
  while (at < raw.length) {
    const char = raw[at] as string
    if (char === '"') return { text, end: at + 1, isClosed: true }
    if (char !== '\\') {
      text += char
      at += 1
      continue
    }
    const kind = raw[at + 1]
    if (kind === undefined) break
    if (kind !== 'u') {
      text += ESCAPES[kind] ?? kind
      at += 2
      continue
    }
    const unit = Number.parseInt(raw.slice(at + 2, at + 6), 16)
    if (raw.length < at + 6) break
    const isHigh = unit >= 0xd800 && unit < 0xdc00
    if (isHigh && raw.length < at + 12 && '\\u'.startsWith(raw.slice(at + 6, at + 8))) break
    if (isHigh && raw.startsWith('\\u', at + 6)) {
      text += String.fromCharCode(unit, Number.parseInt(raw.slice(at + 8, at + 12), 16))
      at += 12
    } else {
      text += Number.isNaN(unit) ? '' : String.fromCharCode(unit)
      at += 6
    }
  }
  return { text, end: at, isClosed: false }
}
