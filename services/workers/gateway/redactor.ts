/** Shorter texts are no secrets: each of their bytes would occur everywhere. */
const MIN_LENGTH = 6
const MASK = 0x2a

/** The forms in which servers echo a text: as it is, in JSON, in an address, in HTML, and in base64. */
const formsOf = (text: string): readonly string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  encodeURIComponent(text),
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  Buffer.from(text).toString('base64url'),
]

/**
 * Replaces secrets in a stream by as many asterisks, so that lengths stay true. It holds back only bytes with which a secret may begin, so that a stream of
 * events is not delayed.
 */
export class Redactor {
  readonly #needles: readonly Buffer[]
  readonly #longest: number
  #held: Buffer = Buffer.alloc(0)

  constructor(texts: readonly string[]) {
    const forms = new Set(texts.filter(({ length }) => length >= MIN_LENGTH).flatMap((text) => formsOf(text)))
    this.#needles = [...forms].map((form) => Buffer.from(form)).toSorted((one, other) => other.length - one.length)
    this.#longest = this.#needles[0]?.length ?? 0
  }

  /** Whether a stream has to pass. */
  get isActive(): boolean {
    return this.#longest > 0
  }

  text(text: string): string {
    return this.isActive ? mask(Buffer.from(text, 'latin1'), this.#needles).toString('latin1') : text
  }

  /** The bytes that can be sent now. */
  write(chunk: Buffer): Buffer {
    const all = mask(this.#held.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#held, chunk]), this.#needles)
    const ready = Math.min(...this.#needles.map((needle) => beginOf(all, needle)))
    this.#held = all.subarray(ready)
    return all.subarray(0, ready)
  }

  /** The rest at the end. */
  end(): Buffer {
    return this.#held
  }
}

/** Where a part of `needle` begins that the end of `bytes` cuts; the length of `bytes` without one. */
function beginOf(bytes: Buffer, needle: Buffer): number {
  const first = needle[0] ?? 0
  for (let at = bytes.indexOf(first, Math.max(0, bytes.length - needle.length + 1)); at >= 0; at = bytes.indexOf(first, at + 1))
    if (bytes.compare(needle, 0, bytes.length - at, at) === 0) return at
  return bytes.length
}

/** In place. */
function mask(bytes: Buffer, needles: readonly Buffer[]): Buffer {
  for (const needle of needles)
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length)) bytes.fill(MASK, at, at + needle.length)
  return bytes
}
