import type { EventBatch, ExecutionEvent, ExecutionEventPayload } from '../../core/events.ts'

/** The first output is written at once, later ones together: about four writes a second for each execution. */
const FIRST_FLUSH_MS = 20
const FLUSH_EVERY_MS = 250
/** A status alone waits this long for company: with a short cell it rides in the row, and readers of a silent one hear of it all the same. */
const STATUS_FLUSH_MS = 250
/** A batch is written early when it holds this much, bytes of JSON. */
const FLUSH_AT_BYTES = 192 * 1024
/** What number and time add to each event. */
const ENVELOPE_BYTES = 48

export interface EventSink {
  /** False when another worker wrote this place of the log. */
  append(batch: EventBatch<ExecutionEvent>): Promise<boolean>
  /** Called after each write that was accepted. */
  written(): void
  /** Called once when a write was refused or failed; nothing is written afterwards. */
  broken(cause: unknown): void
}

/** Numbers the events of one execution and writes them in batches. Text of the same stream that arrives close together becomes one event. */
export class EventLogWriter {
  readonly #sink: EventSink
  readonly #fence: number
  readonly #now: () => number
  #nextSeq: number
  #pending: ExecutionEvent[] = []
  #pendingBytes = 0
  #sourceSeq: number | null
  #timer: NodeJS.Timeout | null = null
  #flushAt = 0
  #lastFlushAt = 0
  #writing: Promise<void> = Promise.resolve()
  #isBroken = false

  constructor(options: { sink: EventSink; fence: number; nextSeq: number; sourceSeq: number | null; now: () => number }) {
    this.#sink = options.sink
    this.#fence = options.fence
    this.#nextSeq = options.nextSeq
    this.#sourceSeq = options.sourceSeq
    this.#now = options.now
  }

  /** `sourceSeq`: the supervisor event that this fact comes from. */
  push(fact: ExecutionEventPayload, sourceSeq: number | null = null): void {
    if (sourceSeq !== null) this.#sourceSeq = sourceSeq
    const last = this.#pending.at(-1)
    if (isText(fact) && last !== undefined && isText(last) && last.type === fact.type && last.cell === fact.cell) {
      this.#pending[this.#pending.length - 1] = { ...last, text: last.text + fact.text }
    } else {
      this.#pending.push({ seq: this.#nextSeq, at: this.#now(), ...fact })
      this.#nextSeq += 1
    }
    // Pictures and text that needs escapes count as what they will be in the row or the batch.
    this.#pendingBytes += Buffer.byteLength(JSON.stringify(fact)) + ENVELOPE_BYTES
    if (this.#pendingBytes >= FLUSH_AT_BYTES) this.#flush()
    else this.#schedule(fact.type === 'status' ? STATUS_FLUSH_MS : FIRST_FLUSH_MS)
  }

  /** Waits for what is being written and hands out the rest, unwritten, for the row itself. */
  async takeTail(): Promise<readonly ExecutionEvent[]> {
    this.#cancelTimer()
    await this.#writing
    const tail = this.#pending
    this.#pending = []
    this.#pendingBytes = 0
    return tail
  }

  /** Writes everything that is pending and waits for it. */
  async drain(): Promise<void> {
    this.#flush()
    await this.#writing
  }

  /** How much would ride in the row, bytes of JSON; never less than it is. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  stop(): void {
    this.#cancelTimer()
    this.#isBroken = true
  }

  /** A flush that is due earlier stays. */
  #schedule(withinMs: number): void {
    const at = Math.max(this.#now() + withinMs, this.#lastFlushAt + FLUSH_EVERY_MS)
    if (this.#timer !== null && this.#flushAt <= at) return
    this.#cancelTimer()
    this.#flushAt = at
    this.#timer = setTimeout(() => this.#flush(), at - this.#now())
  }

  #cancelTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #flush(): void {
    this.#cancelTimer()
    const first = this.#pending[0]
    if (first === undefined || this.#isBroken) return
    const batch: EventBatch<ExecutionEvent> = { firstSeq: first.seq, events: this.#pending, fence: this.#fence, sourceSeq: this.#sourceSeq }
    this.#pending = []
    this.#pendingBytes = 0
    this.#lastFlushAt = this.#now()
    this.#writing = this.#writing.then(() => this.#write(batch))
  }

  async #write(batch: EventBatch<ExecutionEvent>): Promise<void> {
    if (this.#isBroken) return
    try {
      if (!(await this.#sink.append(batch))) throw new Error('another worker writes this event log')
      this.#sink.written()
    } catch (cause) {
      if (this.#isBroken) return
      this.#isBroken = true
      this.#sink.broken(cause)
    }
  }
}

type TextFact = Extract<ExecutionEventPayload, { type: 'stdout' | 'stderr' }>
const isText = <T extends ExecutionEventPayload>(fact: T): fact is T & TextFact => fact.type === 'stdout' || fact.type === 'stderr'
