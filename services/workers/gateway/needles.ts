/** Positions are compared by a hash of this many bytes, of fewer if a needle is shorter. */
const MAX_WINDOW = 16
/** Comparisons with whole needles, of a scan and per 64 bytes of it. Real texts need hardly any. */
const COMPARISONS = 1_000
const FACTOR = 0x0100_0193
const MASK = 0x2a

interface Masked {
  /** The bytes before `ready`, in which every needle is asterisks. */
  readonly bytes: Buffer
  /** From here on a needle may have begun; the rest belongs before the next bytes. */
  readonly ready: number
  /** Bytes after `ready` that belong to a needle which was found. */
  readonly covered: number
}

/**
 * Texts that are searched for at the same time. Needles and haystack are chosen by one tenant, so the time is linear whatever they are: where too many positions nearly match,
 * those positions are masked without a comparison.
 */
export class Needles {
  /** The longest first. */
  readonly #byHash = new Map<number, Buffer[]>()
  readonly #filter = new Uint8Array(1 << 16)
  readonly #window: number
  /** FACTOR to the power of the window. */
  readonly #first: number
  /** What needles begin with, shorter than the window. */
  readonly #beginnings = new Set<string>()

  /** At least one needle, none of them empty. */
  constructor(needles: readonly Buffer[]) {
    this.#window = Math.min(MAX_WINDOW, ...needles.map(({ length }) => length))
    this.#first = Array.from({ length: this.#window }).reduce<number>((power) => Math.imul(power, FACTOR), 1)
    for (const needle of needles.toSorted((one, other) => other.length - one.length)) {
      const hash = this.#hash(needle, 0)
      this.#byHash.set(hash, [...(this.#byHash.get(hash) ?? []), needle])
      this.#filter[hash >>> 16] = 1
      for (let length = 1; length < this.#window; length++) this.#beginnings.add(needle.toString('latin1', 0, length))
    }
  }

  /** `covered`: so many bytes at the start belong to a needle that was found. `isLast`: nothing follows. */
  mask(bytes: Buffer, covered: number, isLast: boolean): Masked {
    const masked = Buffer.from(bytes)
    masked.fill(MASK, 0, covered)
    let left = COMPARISONS + (bytes.length >> 6)
    let end = covered
    for (let at = this.#next(bytes, 0); at >= 0; at = this.#next(bytes, at + 1)) {
      for (const needle of this.#byHash.get(this.#hash(bytes, at)) ?? []) {
        const size = Math.min(needle.length, bytes.length - at)
        if (size < needle.length && isLast) continue
        if (left-- > 0 && bytes.compare(needle, 0, size, at, at + size) !== 0) continue
        if (size < needle.length) return { bytes: masked, ready: at, covered: Math.max(0, end - at) }
        if (at + size > end) masked.fill(MASK, Math.max(at, end), at + size)
        end = Math.max(end, at + size)
        break
      }
    }
    const ready = isLast ? bytes.length : this.#cut(bytes)
    return { bytes: masked, ready, covered: Math.max(0, end - ready) }
  }

  /** Where the end may be the beginning of a needle, within the last window. */
  #cut(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - this.#window + 1); at < bytes.length; at++)
      if (this.#beginnings.has(bytes.toString('latin1', at))) return at
    return bytes.length
  }

  /** The next position from `from` on where a needle may begin; -1 without one. The hash of each position follows from that of the position before. */
  #next(bytes: Buffer, from: number): number {
    const [window, first, filter, last] = [this.#window, this.#first, this.#filter, bytes.length - this.#window]
    if (from > last) return -1
    let hash = this.#hash(bytes, from)
    for (let at = from; at < last; at++) {
      if (filter[hash >>> 16] !== 0) return at
      hash = (Math.imul(hash, FACTOR) + (bytes[at + window] as number) - Math.imul(first, bytes[at] as number)) | 0
    }
    return filter[hash >>> 16] === 0 ? -1 : last
  }

  #hash(bytes: Buffer, at: number): number {
    let hash = 0
    for (let index = at; index < at + this.#window; index++) hash = (Math.imul(hash, FACTOR) + (bytes[index] as number)) | 0
    return hash
  }
}
