import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { RETAINED_304_HEADERS } from 'hono/etag'
import { COMPRESSIBLE_CONTENT_TYPE_REGEX } from 'hono/utils/compress'
import pLimit from 'p-limit'
import { BoundedCache, readThrough } from '../model/bounded-cache.ts'

const compressed = promisify(gzip)

/** A document that was built again is noticed within this time, milliseconds. */
const KEPT_MS = 10_000
/** Smaller ones are not compressed. */
const MIN_BYTES = 1_024
/** A browser replaces the stored headers by those of a 304, so the policy of a document is in both. */
const OF_304 = [...RETAINED_304_HEADERS, 'content-security-policy']

interface Document {
  readonly plain: Uint8Array
  readonly gzipped: Uint8Array | null
  readonly headers: Headers
}

/**
 * Documents that are the same for all clients. Each is made, compressed and hashed once in ten seconds, because clients without a key can request them as
 * often as they like: made for each request, the description of the API alone would take the whole processor.
 */
export class KeptDocuments {
  readonly #documents: BoundedCache<string, Promise<Document | null>>
  readonly #compresses: boolean
  /** One at a time: many would occupy the threads of the process that compress, and those who read files wait for the same ones. */
  readonly #making = pLimit(1)

  /** At most `most` are kept. */
  constructor({ most, compresses }: { readonly most: number; readonly compresses: boolean }) {
    this.#documents = new BoundedCache(most)
    this.#compresses = compresses
  }

  /** `key` names what `make` returns for all requests. Null if that is null. */
  async answer(request: Request, key: string, make: () => Promise<Response | null>): Promise<Response | null> {
    const now = performance.now()
    const read = (): Promise<Document | null> =>
      this.#making(async () => {
        const made = await make()
        return made === null ? null : this.#documentOf(made)
      })
    const document = await readThrough(this.#documents, key, { now, until: now + KEPT_MS, read })
    if (document === null) {
      this.#documents.delete(key)
      return null
    }
    const { plain, gzipped } = document
    const headers = new Headers(document.headers)
    if (isKnown(request, headers.get('etag') ?? '')) {
      for (const name of document.headers.keys()) if (!OF_304.includes(name)) headers.delete(name)
      return new Response(null, { status: 304, headers })
    }
    const isGzipped = gzipped !== null && accepts(request, 'gzip')
    if (isGzipped) headers.set('content-encoding', 'gzip')
    const bytes = isGzipped ? gzipped : plain
    headers.set('content-length', String(bytes.byteLength))
    return new Response(bytes as Uint8Array<ArrayBuffer>, { headers })
  }

  async #documentOf(made: Response): Promise<Document> {
    const { headers } = made
    const plain = new Uint8Array(await made.arrayBuffer())
    const isCompressed =
      this.#compresses && plain.byteLength >= MIN_BYTES && COMPRESSIBLE_CONTENT_TYPE_REGEX.test(headers.get('content-type') ?? '')
    if (isCompressed) headers.append('vary', 'Accept-Encoding')
    headers.set('etag', `W/"${createHash('sha1').update(plain).digest('base64url')}"`)
    return { plain, gzipped: isCompressed ? await compressed(plain) : null, headers }
  }
}

const isKnown = ({ headers }: Request, etag: string): boolean =>
  (headers.get('if-none-match') ?? '')
    .split(',')
    .map((known) => known.trim())
    .some((known) => known === '*' || known === etag || `W/${known}` === etag)

const accepts = ({ headers }: Request, encoding: string): boolean =>
  (headers.get('accept-encoding') ?? '').split(',').some((accepted) => {
    const [name, quality = 'q=1'] = accepted.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && Number(quality.slice('q='.length)) !== 0
  })
