/** What runs of a bounded number, by group. */
export class HeldSlots {
  readonly #byGroup = new Map<string, number>()
  all = 0

  of(group: string): number {
    return this.#byGroup.get(group) ?? 0
  }

  during<T>(group: string, work: Promise<T>): Promise<T> {
    this.#add(group, 1)
    return work.finally(() => this.#add(group, -1))
  }

  #add(group: string, change: 1 | -1): void {
    this.all += change
    const count = this.of(group) + change
    if (count === 0) this.#byGroup.delete(group)
    else this.#byGroup.set(group, count)
  }
}
