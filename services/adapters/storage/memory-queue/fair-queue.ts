/** First in, first out within a group; the groups take turns, so that one tenant's backlog does not delay another's. */
export class FairQueue<Entry> {
  readonly #groups = new Map<string, Entry[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(group: string, entry: Entry): void {
    const entries = this.#groups.get(group)
    if (entries === undefined) this.#groups.set(group, [entry])
    else entries.push(entry)
    this.#size += 1
  }

  /** Removes and returns the first entry of the group whose turn it is; undefined when the queue is empty. */
  take(): Entry | undefined {
    const first = this.#groups.entries().next()
    if (first.done === true) return undefined
    const [group, entries] = first.value
    const entry = entries.shift()
    // The group moves behind all others, which a Map keeps in the order of insertion.
    this.#groups.delete(group)
    if (entries.length > 0) this.#groups.set(group, entries)
    this.#size -= 1
    return entry
  }
}
