/** A piece of an answer: plain text, or a place that names a known file. */
export type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string; readonly written: string }

/** How models write the work folder. The longer forms first, so that they win over the bare one that they end in. */
const PREFIXES = ['sandbox:///mnt/data/', 'sandbox://mnt/data/', 'sandbox:/mnt/data/', 'file:///mnt/data/', '/mnt/data/'] as const
/** A bare path that goes on to the left belongs to something else, for example `https://example.com/mnt/data/x`. */
const LEFT_OF_PATH = /[\w.~%/-]$/
/** After a file's name: a character that would make it another name. A dot does only when a name goes on behind it. */
const CONTINUES = /^(?:[\w/%~-]|\.[\w])/

/**
 * Finds known paths in a text that comes in pieces. However the text is cut, the segments come to the same: what may still become a path
 * is held back until that is decided.
 */
export class PathScanner {
  /** Every way to write a path, the longest first. */
  readonly #spellings: readonly { readonly written: string; readonly path: string }[]
  #held = ''
  #lastChar = ''

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
        at += 1
        continue
      }
      say(at)
      segments.push({ kind: 'file', path: match.path, written: held.slice(at, match.end) })
      at = match.end
      textFrom = at
    }
    say(at)
    if (at > 0) this.#lastChar = held[at - 1] ?? ''
    this.#held = held.slice(at)
    return segments
  }

  #matchAt(text: string, at: number, isEnd: boolean): { path: string; end: number } | 'undecided' | null {
    const first = text[at]
    if (first !== '/' && first !== 's' && first !== 'f') return null
    const left = at > 0 ? (text[at - 1] ?? '') : this.#lastChar
    for (const prefix of PREFIXES) {
      const there = text.slice(at, at + prefix.length)
      if (there !== prefix) {
        if (!isEnd && there.length === text.length - at && prefix.startsWith(there) && !(first === '/' && LEFT_OF_PATH.test(left)))
          return 'undecided'
        continue
      }
      if (first === '/' && LEFT_OF_PATH.test(left)) return null
      return this.#nameAt(text, at + prefix.length, isEnd)
    }
    return null
  }

  #nameAt(text: string, from: number, isEnd: boolean): { path: string; end: number } | 'undecided' | null {
    const rest = text.slice(from)
    for (const { written, path } of this.#spellings) {
      if (rest.startsWith(written)) {
        const after = rest.slice(written.length, written.length + 2)
        if (CONTINUES.test(after)) continue
        const couldContinue = after === '' || after === '.'
        if (couldContinue && !isEnd) return 'undecided'
        return { path, end: from + written.length }
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
