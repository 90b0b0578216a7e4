/** A map with at most `max` entries; a further one replaces the entry that was used least recently. An entry may end at a time. */
export class BoundedCache<Key, Value> {
  readonly #max: number
  readonly #entries = new Map<Key, { readonly value: Value; readonly until: number }>()

  constructor(max: number) {
    this.#max = max
  }

  /** Undefined when there is no entry, or its time is over at `now`. */
  get(key: Key, now = 0): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.until <= now) return undefined
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: Key, value: Value, until = Number.POSITIVE_INFINITY): void {
    this.#entries.delete(key)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#max) break
      this.#entries.delete(oldest)
    }
    this.#entries.set(key, { value, until })
  }

  /** With `value`: only an entry that has it. */
  delete(key: Key, value?: Value): void {
    if (value === undefined || this.#entries.get(key)?.value === value) this.#entries.delete(key)
  }

  getOrCreate(key: Key, create: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const value = create()
    this.set(key, value)
    return value
  }
}

/** The cached result of `read`, else a new one, which is used until `until`. Calls at the same time share a read; a failed one is not cached. */
export function readThrough<Key, Value>(
  cache: BoundedCache<Key, Promise<Value>>,
  key: Key,
  { now, until, read }: { readonly now: number; readonly until: number; readonly read: () => Promise<Value> },
): Promise<Value> {
  const known = cache.get(key, now)
  if (known !== undefined) return known
  const value = read()
  cache.set(key, value, until)
  value.catch(() => cache.delete(key, value))
  return value
}
