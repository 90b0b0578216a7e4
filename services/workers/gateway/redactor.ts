import type { NetworkSecret } from '../../ports/network-gateway.ts'
import { Needles } from './needles.ts'

/** Shorter texts are no secrets: each of their bytes would occur everywhere. */
const MIN_LENGTH = 6

/** The forms in which servers echo a text: as it is, in JSON, in an address, in HTML, and in base64. */
const formsOf = (text: string): readonly string[] => [
  text,
  JSON.stringify(text).slice(1, -1),
  encodeURIComponent(text),
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  Buffer.from(text).toString('base64').replace(/=+$/, ''),
  Buffer.from(text).toString('base64url'),
]

const compiled = new WeakMap<NetworkSecret, readonly Buffer[]>()
/** Made once per secret: a request to its host needs all of them. */
function formsOfSecret(secret: NetworkSecret): readonly Buffer[] {
  const known = compiled.get(secret) ?? compile(secret.value)
  compiled.set(secret, known)
  return known
}

const compile = (text: string): readonly Buffer[] =>
  text.length < MIN_LENGTH ? [] : [...new Set(formsOf(text))].map((form) => Buffer.from(form))

/**
 * Replaces secrets, and other texts, in a stream by as many asterisks, so that lengths stay true. It holds back only bytes with which a secret may begin, so that a stream of
 * events is not delayed.
 */
export class Redactor {
  readonly #needles: Needles | null
  #held: Buffer = Buffer.alloc(0)
  #covered = 0

  constructor(secrets: readonly NetworkSecret[], texts: readonly string[] = []) {
    const needles = [...secrets.flatMap(formsOfSecret), ...texts.flatMap(compile)]
    this.#needles = needles.length === 0 ? null : new Needles(needles)
  }

  /** Whether a stream has to pass. */
  get isActive(): boolean {
    return this.#needles !== null
  }

  text(text: string): string {
    return this.#needles === null ? text : this.#needles.mask(Buffer.from(text, 'latin1'), 0, true).bytes.toString('latin1')
  }

  /** The bytes that can be sent now. */
  write(chunk: Buffer): Buffer {
    return this.#next(this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]), false)
  }

  /** The rest at the end. */
  end(): Buffer {
    return this.#next(this.#held, true)
  }

  #next(all: Buffer, isLast: boolean): Buffer {
    if (this.#needles === null) return all
    const { bytes, ready, covered } = this.#needles.mask(all, this.#covered, isLast)
    this.#held = all.subarray(ready)
    this.#covered = covered
    return bytes.subarray(0, ready)
  }
}
