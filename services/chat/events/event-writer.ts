import type { EventBatch, EventPayload, ResponseEvent } from '../../core/events.ts'

/** How long an event may wait for others: `now` for what a reader waits for, `soon` for what usually has company, `paced` for a stream. */
export type FlushPriority = 'now' | 'soon' | 'paced'

export interface EventLog {
  /** False when another worker wrote this place of the log. */
  append(batch: EventBatch<ResponseEvent>): Promise<boolean>
  /** Called after each write that was accepted. */
  written(): void
  /** Called once when a write was refused or failed; nothing is written afterwards. */
  broken(cause: unknown): void
}

/** Somebody else writes the log: the step that meets this stops and leaves the row to its successor. */
export class EventLogConflictError extends Error {
  constructor() {
    super('Another worker writes the event log of this response')
    this.name = 'LogTaken'
  }
}

/** Made once: an error that nobody reads costs its stack. */
const CLOSED = new EventLogConflictError()

/** What a fast model says in one breath becomes one write. */
const NOW_MS = 5
const SOON_MS = 30
const PACE_MS = 250

export interface EventWriterOptions {
  readonly log: EventLog
  readonly fence: number
  readonly nextSeq: number
  /** The last events below `nextSeq`, when they are in the row and not in the log. */
  readonly tail: readonly ResponseEvent[]
  readonly now: () => number
}

/** Numbers the events of one response, consecutive from `nextSeq`, and writes them in batches, one at a time. */
export class EventWriter {
  readonly #log: EventLog
  readonly #fence: number
  readonly #now: () => number
  #nextSeq: number
  #writtenSeq: number
  /** Events below this number may be in the row already, so they stay as they are. */
  #settledSeq: number
  #waiting: ResponseEvent[] = []
  #timer: NodeJS.Timeout | null = null
  #timerAt = 0
  #lastWriteAt = 0
  #writing: Promise<void> | null = null
  #failure: unknown = null

  constructor(options: EventWriterOptions) {
    this.#log = options.log
    this.#fence = options.fence
    this.#nextSeq = options.nextSeq
    this.#writtenSeq = options.tail[0]?.seq ?? options.nextSeq
    this.#settledSeq = options.nextSeq
    this.#waiting = [...options.tail]
    this.#now = options.now
  }

  /** The number that the next event gets. */
  get nextSeq(): number {
    return this.#nextSeq
  }

  /** Every event below this number is in the log. */
  get writtenSeq(): number {
    return this.#writtenSeq
  }

  /** Deltas of one item that wait together become one event. */
  emit(fact: EventPayload, urgency: FlushPriority): void {
    const last = this.#waiting.at(-1)
    const merged = last === undefined || last.seq < this.#settledSeq ? null : mergeDeltas(last, fact)
    if (merged === null) {
      this.#waiting.push({ seq: this.#nextSeq, at: this.#now(), ...fact })
      this.#nextSeq += 1
    } else {
      this.#waiting[this.#waiting.length - 1] = merged
    }
    this.#schedule(urgency)
  }

  /** Writes everything that waits; resolves when the log has it. Throws LogTaken or the store's error. */
  async drain(): Promise<void> {
    while (this.#failure === null && (this.#writing !== null || this.#waiting.length > 0)) await this.#write()
    if (this.#failure !== null) throw this.#failure
  }

  /** What waits, to ride in the row that is written next: the log gets it with what follows. More than this many bytes of JSON is written at once. */
  async tail(maxBytes: number): Promise<readonly ResponseEvent[]> {
    await this.#writing
    if (Buffer.byteLength(JSON.stringify(this.#waiting)) > maxBytes) await this.drain()
    if (this.#failure !== null) throw this.#failure
    this.#stopTimer()
    this.#settledSeq = this.#nextSeq
    return [...this.#waiting]
  }

  /** Waits for a write under way and hands out what is left, unwritten, for the row itself. Nothing is written afterwards. */
  async takeTail(): Promise<readonly ResponseEvent[]> {
    this.#stopTimer()
    await this.#writing
    if (this.#failure !== null) throw this.#failure
    this.#stopTimer()
    const tail = this.#waiting
    this.#waiting = []
    return tail
  }

  /** Nothing is written from here on. */
  close(): void {
    this.#stopTimer()
    this.#waiting = []
    this.#failure ??= CLOSED
  }

  #schedule(urgency: FlushPriority): void {
    const now = this.#now()
    const at = urgency === 'now' ? now + NOW_MS : urgency === 'soon' ? now + SOON_MS : Math.max(now + SOON_MS, this.#lastWriteAt + PACE_MS)
    if (this.#timer !== null && this.#timerAt <= at) return
    this.#stopTimer()
    this.#timerAt = at
    this.#timer = setTimeout(() => {
      this.#timer = null
      void this.#write()
    }, at - now)
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** One batch; a call during a write waits for that write only. */
  #write(): Promise<void> {
    if (this.#writing !== null) return this.#writing
    this.#stopTimer()
    const first = this.#waiting[0]
    if (first === undefined || this.#failure !== null) return Promise.resolve()
    const batch: EventBatch<ResponseEvent> = { firstSeq: first.seq, events: this.#waiting, fence: this.#fence, sourceSeq: null }
    this.#waiting = []
    this.#lastWriteAt = this.#now()
    this.#writing = this.#append(batch).finally(() => {
      this.#writing = null
      // Its time came while the write before it was under way.
      if (this.#waiting.length > 0 && this.#timer === null && this.#failure === null) this.#schedule('now')
    })
    return this.#writing
  }

  async #append(batch: EventBatch<ResponseEvent>): Promise<void> {
    try {
      if (!(await this.#log.append(batch))) throw new EventLogConflictError()
      this.#writtenSeq = batch.firstSeq + batch.events.length
      this.#log.written()
    } catch (cause) {
      if (this.#failure !== null) return
      this.#failure = cause
      this.#log.broken(cause)
    }
  }
}

function mergeDeltas(last: ResponseEvent, fact: EventPayload): ResponseEvent | null {
  const { delta } = fact.data
  const before = last.data['delta']
  if (last.type !== fact.type || last.data['item_id'] !== fact.data['item_id'] || typeof delta !== 'string' || typeof before !== 'string')
    return null
  return { ...last, data: { ...last.data, delta: before + delta } }
}
