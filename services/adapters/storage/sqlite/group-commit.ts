/** Makes commits durable in groups: one sync of the log includes every commit that was written before it started. */
export class GroupCommit {
  readonly #sync: () => Promise<void>
  /** Partitions written since the last sync began, and those that the running sync covers. */
  #written = new Set<string>()
  #syncing: ReadonlySet<string> = new Set()
  /** Partitions among them with a write whose caller waits for the sync. */
  #awaited = new Set<string>()
  #syncingAwaited: ReadonlySet<string> = new Set()
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null
  #failure: Error | null = null

  constructor(sync: () => Promise<void>) {
    this.#sync = sync
  }

  /** Resolves when the last write to the partition survives a power failure. */
  written(partition: string): Promise<void> {
    this.#written.add(partition)
    this.#awaited.add(partition)
    return this.#nextSync()
  }

  /**
   * After a write to the partition that the next sync covers, whichever call starts it. Resolves in the order of the partition's writes: after
   * those that wait for a sync.
   */
  deferred(partition: string): Promise<void> {
    this.#written.add(partition)
    if (this.#awaited.has(partition)) return this.#nextSync()
    return this.#syncingAwaited.has(partition) && this.#running !== null ? this.#running : Promise.resolve()
  }

  /** Resolves when every write to the partition that a read could have seen is durable; without a partition, every write. */
  settled(partition?: string): Promise<void> {
    const isIn = (set: ReadonlySet<string>): boolean => (partition === undefined ? set.size > 0 : set.has(partition))
    if (isIn(this.#written)) return this.#nextSync()
    if (isIn(this.#syncing) && this.#running !== null) return this.#running
    return this.#failure === null ? Promise.resolve() : Promise.reject(this.#failure)
  }

  #nextSync(): Promise<void> {
    this.#next ??= this.#syncAfter(this.#running)
    return this.#next
  }

  async #syncAfter(previous: Promise<void> | null): Promise<void> {
    await previous
    // Commits of the same turn of the event loop share this sync.
    await Promise.resolve()
    this.#running = this.#next
    this.#next = null
    this.#syncing = this.#written
    this.#written = new Set()
    this.#syncingAwaited = this.#awaited
    this.#awaited = new Set()
    try {
      if (this.#failure !== null) throw this.#failure
      await this.#sync()
    } catch (error) {
      // After a failed sync the system may have dropped the pages, so no later sync can prove anything.
      this.#failure = error instanceof Error ? error : new Error(String(error))
      throw this.#failure
    } finally {
      this.#syncing = new Set()
      this.#syncingAwaited = new Set()
    }
  }
}
