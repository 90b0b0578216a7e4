const OPENS = /^(`{3,}|~{3,})[^`]*$/
const CLOSES = /^ {0,3}(`{3,}|~{3,})[ \t]*$/
const LOOKS_LIKE_FENCE = /^\s*(?:`{3}|~{3})/
const HTML_START = /^<[a-z!?/]$/i
const MAX_LINE = 256

/**
 * Recognises fenced code blocks that every Markdown renderer reads alike: HTML in them is text. After HTML outside a block, or a fence that
 * renderers could read differently, no further block is recognised.
 */
export class FenceTracker {
  #line = ''
  #fence: string | null = null
  #isTrusted = true
  #previous = ''

  /** True when this character ends the last line of a recognised block. */
  add(char: string): boolean {
    if (this.#fence === null && HTML_START.test(this.#previous + char)) this.#isTrusted = false
    this.#previous = char
    if (char !== '\n' && char !== '\r') {
      if (this.#line.length <= MAX_LINE) this.#line += char
      return false
    }
    const line = this.#line
    this.#line = ''
    if (!this.#isTrusted || !LOOKS_LIKE_FENCE.test(line)) return false
    const mark = line.length > MAX_LINE ? undefined : (this.#fence === null ? OPENS : CLOSES).exec(line)?.[1]
    if (mark === undefined || (this.#fence !== null && !mark.startsWith(this.#fence))) {
      this.#isTrusted = false
      return false
    }
    const isEnd = this.#fence !== null
    this.#fence = isEnd ? null : mark
    return isEnd
  }
}
