import { ServiceError, type ErrorCode } from '../model/errors.ts'

/** A pool serves at least this many owners: one owner gets at most this part of it. */
const OWNERS_PER_POOL = 4

interface PoolOptions {
  readonly maxBytes: number
  readonly code: ErrorCode
  /** The name of the limit in the headers of a refusal. */
  readonly name: string
  /** What the pool holds and what the client can do, as two sentences. */
  readonly advice: string
}

/** Bytes of one kind that this process holds for its clients. An owner is a tenant, or an address that sent no key. */
export class BytePool {
  readonly #options: PoolOptions
  readonly #byOwner = new Map<string, number>()
  readonly #waiting = new Set<() => void>()
  #held = 0

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get held(): number {
    return this.#held
  }

  /** What one owner may hold, bytes. */
  get share(): number {
    return Math.floor(this.#options.maxBytes / OWNERS_PER_POOL)
  }

  heldBy(owner: string): number {
    return this.#byOwner.get(owner) ?? 0
  }

  lease(owner: string): ByteLease {
    return new ByteLease(this, owner)
  }

  /** Whether the owner may hold so many bytes more. An empty pool admits one piece of any size. */
  admits(owner: string, bytes: number): boolean {
    if (bytes <= 0 || this.#held === 0) return true
    return this.#held + bytes <= this.#options.maxBytes && this.heldBy(owner) + bytes <= this.share
  }

  /** Throws the ServiceError of a full pool unless `admits`. */
  check(owner: string, bytes: number): void {
    if (this.admits(owner, bytes)) return
    const { code, name, advice, maxBytes } = this.#options
    const isOwn = this.heldBy(owner) + bytes > this.share
    const who = isOwn
      ? `This account holds as many bytes as it may, ${this.share}`
      : `This server holds as many bytes as it may, ${maxBytes}`
    throw new ServiceError(code, `${who} (limit ${name}). ${advice}`, {
      limit: { name, value: isOwn ? this.share : maxBytes, retryAfterSeconds: 1 },
    })
  }

  /** Counts bytes that exist, without a check. */
  change(owner: string, bytes: number): void {
    if (bytes === 0) return
    this.#held += bytes
    const now = this.heldBy(owner) + bytes
    if (now === 0) this.#byOwner.delete(owner)
    else this.#byOwner.set(owner, now)
    if (bytes < 0) for (const wake of [...this.#waiting]) wake()
  }

  /** Resolves when the owner may hold so many bytes more, and in any case after `maxMs`. */
  async whenFree(owner: string, bytes: number, maxMs: number): Promise<void> {
    if (this.admits(owner, bytes)) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        resolve()
      }
      const look = (): void => {
        if (this.admits(owner, bytes)) end()
      }
      const timer = setTimeout(end, maxMs)
      this.#waiting.add(look)
    })
  }
}

/** The part of a pool that one exchange holds. */
export class ByteLease {
  readonly pool: BytePool
  readonly owner: string
  #bytes = 0
  #isReleased = false

  constructor(pool: BytePool, owner: string) {
    this.pool = pool
    this.owner = owner
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Throws ServiceError when the pool or the owner's share of it is full; then nothing has changed. */
  add(bytes: number): void {
    this.pool.check(this.owner, bytes)
    this.set(this.#bytes + bytes)
  }

  /** Counts what is held, without a check. A released lease stays empty. */
  set(bytes: number): void {
    if (this.#isReleased) return
    this.pool.change(this.owner, bytes - this.#bytes)
    this.#bytes = bytes
  }

  /** Further calls have no effect. */
  release(): void {
    this.set(0)
    this.#isReleased = true
  }
}

export const requestPool = (maxBytes: number): BytePool =>
  new BytePool({
    maxBytes,
    code: 'too_many_request_bytes',
    name: 'max_request_bytes_in_flight',
    advice: 'Request bodies count until they are answered. Send the request again when others have ended.',
  })

export const answerPool = (maxBytes: number): BytePool =>
  new BytePool({
    maxBytes,
    code: 'too_many_results',
    name: 'max_result_bytes_in_flight',
    advice: 'Answers count until the client has read them. Read those that are open, then send the request again.',
  })
