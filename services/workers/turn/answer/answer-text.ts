import { fileName } from '../../../model/files/file-path.ts'
import type { Source } from '../../../model/responses/source.ts'
import { PathScanner } from './path-scanner.ts'
import type { Citation } from '../../../model/responses/items/message.ts'

/** A file that an answer may name. */
export interface LinkableFile {
  readonly fileId: string
  readonly containerId: string
  readonly path: string
  /** Whether this turn created or changed it. */
  readonly isFresh: boolean
  /** The `/d/` link to this version; created at the first request. */
  link(): Promise<{ readonly url: string; readonly id?: string }>
}

/** The growing text of one message. Every path of a known file is cited; a path that is a whole link target, or a word, becomes a link. */
export class AnswerText {
  readonly #files: ReadonlyMap<string, LinkableFile>
  readonly #sources: ReadonlyMap<string, Source>
  readonly #scanner: PathScanner
  #text = ''
  readonly #citations: Citation[] = []

  constructor(files: readonly LinkableFile[], sources: readonly Source[] = []) {
    this.#sources = new Map(sources.map((source) => [source.url, source]))
    this.#files = new Map(files.map((file) => [file.path, file]))
    this.#scanner = new PathScanner([...this.#files.keys()])
  }

  /** The text that the reader receives for this piece. */
  push(piece: string): Promise<string> {
    return this.#add(this.#scanner.push(piece))
  }

  /** The text that was held back. The citations are complete afterwards. */
  async end(): Promise<string> {
    const rest = await this.#add(this.#scanner.end())
    this.#citeNames()
    this.#citeSources()
    this.#citations.sort((a, b) => a.startIndex - b.startIndex)
    return rest
  }

  get text(): string {
    return this.#text
  }

  get citations(): readonly Citation[] {
    return this.#citations
  }

  async #add(segments: ReturnType<PathScanner['push']>): Promise<string> {
    let added = ''
    for (const segment of segments) {
      const file = segment.kind === 'file' ? this.#files.get(segment.path) : undefined
      if (segment.kind === 'text') added += segment.text
      else if (file === undefined) added += segment.written
      // A link gives every reader of the answer access to the file, so a file that this turn did not create must itself be the target.
      else if (segment.place === 'inside' || (segment.place === 'bare' && !file.isFresh)) {
        this.#cite(file, { startIndex: this.#text.length + added.length, length: segment.written.length })
        added += segment.written
      } else {
        const { url, id } = await file.link()
        this.#cite(file, { startIndex: this.#text.length + added.length, length: url.length, linkId: id })
        added += url
      }
    }
    this.#text += added
    return added
  }

  /** Cites a file of this turn that the text names without its folder, for example "see plot.png", at its first mention. */
  #citeNames(): void {
    for (const file of this.#files.values()) {
      const name = fileName(file.path)
      if (
        !file.isFresh ||
        !name.includes('.') ||
        this.#citations.some((citation) => 'fileId' in citation && citation.fileId === file.fileId)
      )
        continue
      const start = this.#placeOf(name)
      if (start !== null) this.#cite(file, { startIndex: start, length: name.length })
    }
  }

  /** Cites a page that a tool found wherever the text contains its address. */
  #citeSources(): void {
    for (const { url, title } of this.#sources.values()) {
      for (let at = this.#text.indexOf(url); at >= 0; at = this.#text.indexOf(url, at + url.length)) {
        const end = at + url.length
        // A longer address is another page; punctuation at the end of a sentence is not part of it.
        const isWhole = !/^(?:[\w/?#&=%~+@-]|[.,:;!][\w/?#&=%~+@-])/.test(this.#text.slice(end, end + 2))
        if (isWhole && this.#isFree(at, end)) this.#citations.push({ url, title, startIndex: at, endIndex: end })
      }
    }
  }

  #isFree(start: number, end: number): boolean {
    return !this.#citations.some((citation) => start < citation.endIndex && end > citation.startIndex)
  }

  #placeOf(name: string): number | null {
    for (let at = this.#text.indexOf(name); at >= 0; at = this.#text.indexOf(name, at + 1)) {
      const end = at + name.length
      const isWhole = !/[\w./%-]/.test(this.#text[at - 1] ?? ' ') && !/^(?:[\w/%-]|\.\w)/.test(this.#text.slice(end, end + 2))
      if (isWhole && this.#isFree(at, end)) return at
    }
    return null
  }

  #cite(
    file: LinkableFile,
    { startIndex, length, linkId }: { readonly startIndex: number; readonly length: number; readonly linkId?: string | undefined },
  ): void {
    this.#citations.push({
      containerId: file.containerId,
      fileId: file.fileId,
      filename: fileName(file.path),
      startIndex,
      endIndex: startIndex + length,
      ...(linkId === undefined ? {} : { linkId }),
    })
  }
}
