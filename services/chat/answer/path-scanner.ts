import { LinkContext, type PathPlace } from './link-context.ts'

/** A piece of an answer: plain text, or a place that names a known file. */
export type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string; readonly written: string; readonly place: PathPlace }
type Match = { readonly path: string; readonly end: number; readonly place: PathPlace }

/** How models write the work folder. The longer forms first, so that they win over the bare one that they end in. */
const PREFIXES = ['sandbox:///mnt/data/', 'sandbox://mnt/data/', 'sandbox:/mnt/data/', 'file:///mnt/data/', '/mnt/data/'] as const
const LONGEST_PREFIX = Math.max(...PREFIXES.map((prefix) => prefix.length))
/** After a file's name: a character that would make it another name. A dot does only when a name follows it. */
const CONTINUES = /^(?:[\w/%~-]|\.[\w])/

/**
 * Finds known paths in a text that comes in pieces. However the text is cut, the segments come to the same: what may still become a path
 * is held back until that is decided.
 */
export class PathScanner {
  /** Every way to write a path, the longest first. */
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

  /** What was held back; nothing may follow. */
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
