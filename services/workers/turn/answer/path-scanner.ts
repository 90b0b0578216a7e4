import { LinkContext, type PathPlace } from './link-context.ts'

/** A piece of an answer: plain text, or the path of a known file. */
export type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string; readonly written: string; readonly place: PathPlace }
type Match = { readonly path: string; readonly end: number; readonly place: PathPlace }

/** Spellings of the work folder in answers of models. Longer ones first, because they end in the short one. */
const PREFIXES = ['sandbox:///mnt/data/', 'sandbox://mnt/data/', 'sandbox:/mnt/data/', 'file:///mnt/data/', '/mnt/data/'] as const
const LONGEST_PREFIX = Math.max(...PREFIXES.map((prefix) => prefix.length))
/** A character after a file's name that makes it another name. A dot does so only if a name follows it. */
const CONTINUES = /^(?:[\w/%~-]|\.[\w])/

/**
 * Finds known paths in a text that arrives in pieces. The result does not depend on the pieces: text that may become a path is held back until that is
 * decided.
 */
export class PathScanner {
  /** Every spelling of a path, longest first. */
  readonly #spellings: readonly { readonly written: string; readonly path: string }[]
  readonly #context = new LinkContext()
  #held = ''

  constructor(paths: readonly string[]) {
    this.#spellings = paths.flatMap(spellingsOf).toSorted((a, b) => b.written.length - a.written.length)
  }

  push(piece: string): Segment[] {
    this.#held += piece
    return this.#scan(false)
  }

  /** Returns the text that was held back, at the end. */
  end(): Segment[] {
    return this.#scan(true)
  }

  #scan(isEnd: boolean): Segment[] {
    const segments: Segment[] = []
    const held = this.#held
    let textFrom = 0
    let at = 0
    const say = (to: number): void => {
      if (to > textFrom) segments.push({ kind: 'text', text: held.slice(textFrom, to) })
    }
    while (at < held.length) {
      const match = this.#spellings.length === 0 ? null : this.#matchAt(held, at, isEnd)
      if (match === 'undecided') break
      if (match === null) {
        this.#context.add(held[at] ?? '')
        at += 1
        continue
      }
      say(at)
      const written = held.slice(at, match.end)
      segments.push({ kind: 'file', path: match.path, written, place: match.place })
      this.#context.add(written)
      at = match.end
      textFrom = at
    }
    say(at)
    this.#held = held.slice(at)
    return segments
  }

  #matchAt(text: string, at: number, isEnd: boolean): Match | 'undecided' | null {
    const first = text[at]
    if (first !== '/' && first !== 's' && first !== 'f') return null
    const rest = text.slice(at, at + LONGEST_PREFIX)
    const prefix = PREFIXES.find((one) => rest.startsWith(one))
    if (prefix !== undefined) return this.#nameAt(text, at + prefix.length, isEnd)
    const mayBecomePath = !isEnd && at + rest.length === text.length && PREFIXES.some((one) => one.startsWith(rest))
    return mayBecomePath ? 'undecided' : null
  }

  #nameAt(text: string, from: number, isEnd: boolean): Match | 'undecided' | null {
    const rest = text.slice(from)
    for (const { written, path } of this.#spellings) {
      if (rest.startsWith(written)) {
        const end = from + written.length
        const after = text.slice(end, end + 2)
        if (CONTINUES.test(after)) continue
        const couldContinue = after === '' || after === '.'
        if (couldContinue && !isEnd) return 'undecided'
        const place = this.#context.placeOfPath(text.slice(end), isEnd)
        return place === null ? 'undecided' : { path, end, place }
      }
      if (!isEnd && written.startsWith(rest)) return 'undecided'
    }
    return null
  }
}

function spellingsOf(path: string): { written: string; path: string }[] {
  const forms = new Set([path, path.normalize('NFD'), encodeURI(path), path.split('/').map(encodeURIComponent).join('/')])
  return [...forms].map((written) => ({ written, path }))
}
