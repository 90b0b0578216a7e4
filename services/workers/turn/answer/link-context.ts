/** ASCII only: other white space does not end an address for every renderer. */
const WHITE_SPACE = /[ \t\r\n]/
/** Marks that may stand between the start of a word and a path: brackets, quotes and emphasis. */
const OPENING_MARK = /[([{<"'`*_|>]/
/** Characters that an address has before or inside its path, query or fragment. */
const ADDRESS_CHAR = /[/\\?#=&%@:]/
/** Longest white space between the target of a Markdown link and its title or closing parenthesis. */
const MAX_GAP = 8

/** States of an HTML tag that may be open, as bits: several hypotheses are followed at once. */
const TAG_OPENED = 1
const IN_TAG = 2
const AFTER_EQUALS = 4
const UNQUOTED = 8
const DOUBLE_QUOTED = 16
const SINGLE_QUOTED = 32

/** `target`: the path is the whole target of a Markdown link. `bare`: it is a word. `inside`: it is part of something else, maybe of an address. */
export type PathPlace = 'target' | 'bare' | 'inside'

/**
 * Parses Markdown and HTML up to a position and determines what a path at that position is part of. A renderer that differs from
 * CommonMark may see other links, so every reading in which the path could belong to a foreign address counts: the answer is then `inside`.
 */
export class LinkContext {
  readonly #fences = new FenceTracker()
  #previous = ''
  #tag = 0
  #angle: 'none' | 'open' | 'escaped' = 'none'
  /** Parentheses open since `](`; 0 outside a target. */
  #depth = 0
  #isEscaped = false
  /** Nothing but `<` has followed `](` or white space and opening marks. */
  #isTargetStart = false
  #isAngleStart = false
  /** State of the word before this position. */
  #word: 'marks' | 'plain' | 'address' = 'marks'
  /** The word has `://` or `www.` outside a Markdown target. */
  #hasUrl = false
  #tail = ''
  /** Angle state before the `<` that directly precedes this position. */
  #wasInAngle = false

  add(text: string): void {
    for (const char of text) this.#addChar(char)
  }

  /** Null: more text is needed to decide. `after`: the known text after the path. */
  placeOfPath(after: string, isEnd: boolean): PathPlace | null {
    if ((this.#tag & ~TAG_OPENED) !== 0 || this.#hasUrl) return 'inside'
    if (this.#isAngleStart ? this.#wasInAngle : this.#angle !== 'none') return 'inside'
    if (this.#isAngleStart && !after.startsWith('>')) return after === '' && !isEnd ? null : 'inside'
    if (this.#depth > 0) return this.#isTargetStart ? endOfTarget(this.#isAngleStart ? after.slice(1) : after, isEnd) : 'inside'
    if (/^[\w/%~\-=&#@+$\\]/.test(after)) return 'inside'
    if (this.#word === 'marks') return 'bare'
    return this.#word === 'plain' && /[^\p{ASCII}]/u.test(this.#previous) ? 'bare' : 'inside'
  }

  #addChar(char: string): void {
    this.#followTag(char)
    this.#followAngle(char)
    this.#followTarget(char)
    this.#followWord(char)
    if (this.#fences.add(char)) this.#tag = 0
    this.#previous = char
  }

  #followTag(char: string): void {
    let next = char === '<' ? TAG_OPENED : 0
    const states = this.#tag
    const isSpace = /\s/.test(char)
    if (states & TAG_OPENED && /[a-z]/i.test(char)) next |= IN_TAG
    if (states & IN_TAG && char !== '>') next |= char === '=' ? AFTER_EQUALS | IN_TAG : IN_TAG
    if (states & AFTER_EQUALS && char !== '>')
      next |= char === '"' ? DOUBLE_QUOTED : char === "'" ? SINGLE_QUOTED : isSpace ? AFTER_EQUALS : UNQUOTED
    if (states & UNQUOTED && char !== '>') next |= isSpace ? IN_TAG : UNQUOTED
    if (states & DOUBLE_QUOTED) next |= char === '"' ? IN_TAG : DOUBLE_QUOTED
    if (states & SINGLE_QUOTED) next |= char === "'" ? IN_TAG : SINGLE_QUOTED
    this.#tag = next
  }

  #followAngle(char: string): void {
    this.#isAngleStart = char === '<'
    this.#wasInAngle = this.#angle !== 'none'
    if (this.#angle === 'escaped' && char !== '\n') this.#angle = 'open'
    else if (char === '<') this.#angle = 'open'
    else if (char === '>' || char === '\n') this.#angle = 'none'
    else if (char === '\\' && this.#angle === 'open') this.#angle = 'escaped'
  }

  #followTarget(char: string): void {
    const opens = char === '(' && this.#previous === ']'
    if (this.#depth === 0) {
      if (opens) this.#depth = 1
      this.#isTargetStart = opens
      this.#isEscaped = false
      return
    }
    this.#isTargetStart = this.#isTargetStart && char === '<' && this.#previous === '('
    if (char === '\n') this.#depth = 0
    else if (this.#isEscaped) this.#isEscaped = false
    else if (char === '\\') this.#isEscaped = true
    else if (char === '(') this.#depth += 1
    else if (char === ')') this.#depth -= 1
  }

  #followWord(char: string): void {
    if (WHITE_SPACE.test(char)) {
      this.#word = 'marks'
      this.#hasUrl = false
      this.#tail = ''
      return
    }
    if (ADDRESS_CHAR.test(char)) this.#word = 'address'
    else if (this.#word === 'marks' && !OPENING_MARK.test(char)) this.#word = 'plain'
    this.#tail = `${this.#tail}${char}`.slice(-4).toLowerCase()
    if (this.#depth === 0 && (this.#tail.endsWith('://') || this.#tail === 'www.')) this.#hasUrl = true
  }
}

/** A title may follow a target; any other text after white space means that the target is more than the path. */
function endOfTarget(after: string, isEnd: boolean): PathPlace | null {
  const [gap = ''] = /^[ \t]*/.exec(after) ?? []
  const next = after[gap.length]
  if (next === ')') return 'target'
  if (next === undefined) return isEnd || gap.length > MAX_GAP ? 'inside' : null
  return gap !== '' && gap.length <= MAX_GAP && /["'(]/.test(next) ? 'target' : 'inside'
}

const OPENS = /^(`{3,}|~{3,})[^`]*$/
const CLOSES = /^ {0,3}(`{3,}|~{3,})[ \t]*$/
const LOOKS_LIKE_FENCE = /^\s*(?:`{3}|~{3})/
const HTML_START = /^<[a-z!?/]$/i
const MAX_LINE = 256

/**
 * Recognises fenced code blocks that every Markdown renderer reads alike: HTML in them is text. After HTML outside a block, or a fence that
 * renderers could read differently, no further block is recognised.
 */
class FenceTracker {
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
