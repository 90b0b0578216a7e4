import { LIMITS } from '../../limits.ts'

/** Characters that a result has of a stream that is longer: from its start and from its end. */
const RESULT_BOUNDS = { head: LIMITS.maxStreamHeadBytes, tail: LIMITS.maxStreamTailBytes } as const

/** Printed text of one stream. A stream that a client follows can be longer than a result may be, so the middle is left out. */
export class StreamText {
  readonly #head: string[] = []
  #headLength = 0
  #tail = ''
  #length = 0

  push(text: string): void {
    this.#length += text.length
    const space = RESULT_BOUNDS.head - this.#headLength
    if (space > 0) {
      const start = text.slice(0, space)
      this.#head.push(start)
      this.#headLength += start.length
    }
    if (text.length > space) this.#tail = (this.#tail + text.slice(Math.max(0, space))).slice(-RESULT_BOUNDS.tail)
  }

  /** Characters of the middle that are left out. */
  get leftOut(): number {
    return this.#length - this.#headLength - this.#tail.length
  }

  toString(): string {
    const head = this.#head.join('')
    return this.leftOut === 0 ? head + this.#tail : head.toWellFormed() + this.#tail.toWellFormed()
  }
}
