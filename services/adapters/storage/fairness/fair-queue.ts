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

  /** Removes and returns the first entry of the first admitted group; undefined when there is none. A group that is not admitted keeps its turn. */
  take(admits: (group: string) => boolean = () => true): Entry | undefined {
    for (const [group, entries] of this.#groups) {
      if (!admits(group)) continue
      const entry = entries.shift()
      // The group moves behind all others, which a Map keeps in the order of insertion.
      this.#groups.delete(group)
      if (entries.length > 0) this.#groups.set(group, entries)
      this.#size -= 1
      return entry
    }
    return undefined
  }
}
