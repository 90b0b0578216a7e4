interface Timer {
  readonly at: number
  readonly order: number
  /** Null: cancelled. */
  run: (() => void) | null
}

/** A simulated clock: time moves from one timer to the next, and the code that a timer wakes runs to its next wait in between. */
export class VirtualTime {
  #now: number
  #order = 0
  /** A binary heap: the earliest timer first, in the order of their creation. */
  readonly #timers: Timer[] = []

  constructor(start: number) {
    this.#now = start
  }

  readonly now = (): number => this.#now

  /** Calls `run` after so many simulated milliseconds, rounded up to whole ones as ids need them. Returns what cancels it. */
  after(ms: number, run: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, Math.ceil(ms)), order: this.#order++, run }
    this.#push(timer)
    return () => {
      timer.run = null
    }
  }

  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => void this.after(ms, resolve))

  /** Runs every timer up to that moment. */
  async runUntil(end: number): Promise<void> {
    await settle()
    for (let next = this.#timers[0]; next !== undefined && next.at <= end; next = this.#timers[0]) {
      if (next.run === null) {
        this.#pop()
        continue
      }
      this.#now = Math.max(this.#now, next.at)
      // All timers of this millisecond, then what they woke: promises settle before `setImmediate` calls back.
      for (let due = this.#timers[0]; due !== undefined && due.at <= this.#now; due = this.#timers[0]) {
        this.#pop()
        due.run?.()
      }
      await settle()
    }
    this.#now = Math.max(this.#now, end)
  }

  #push(timer: Timer): void {
    const heap = this.#timers
    let place = heap.push(timer) - 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!isBefore(timer, heap[parent] as Timer)) break
      heap[place] = heap[parent] as Timer
      place = parent
    }
    heap[place] = timer
  }

  #pop(): void {
    const heap = this.#timers
    const last = heap.pop() as Timer
    if (heap.length === 0) return
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Timer, heap[child] as Timer)) child += 1
      if (!isBefore(heap[child] as Timer, last)) break
      heap[place] = heap[child] as Timer
      place = child
    }
    heap[place] = last
  }
}

/** Code that was woken runs to its next wait. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const isBefore = (a: Timer, b: Timer): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

/** Reproducible numbers from 0 up to 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
