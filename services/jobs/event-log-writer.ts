import type { EventBatch, EventPayload } from '../model/events.ts'
import type { ExecutionProgressPayload } from '../model/executions/events/event-types.ts'

/**
 * How long an event may wait for others: `now`: a reader waits for it. `soon`: other events usually follow. `paced`: a stream
 * (at once, then four writes per second). `deferred`: usually written with the next output.
 */
export type FlushPriority = 'now' | 'soon' | 'paced' | 'deferred'

const NOW_MS = 5
const SOON_MS = 30
const PACED_MS = { first: 20, between: 250 } as const
const DEFERRED_MS = 250
/** A batch of this size is written early, and a bigger one is split, bytes of JSON. */
const MAX_BATCH_BYTES = 192 * 1024
/** JSON bytes that the number and the time add to each event. */
const ENVELOPE_BYTES = 48

/** What a log contains, except an execution's terminal event, which `endExecution` creates. */
type Payload = EventPayload | ExecutionProgressPayload
export type Numbered<P extends Payload> = { readonly seq: number; readonly at: number } & P

/** The unwritten events of a log for the write that ends its row. The terminal event gets `nextSeq`. */
export interface LogTail<P extends Payload> {
  readonly events: readonly Numbered<P>[]
  /** They take at most this much of a row, bytes of JSON. */
  readonly bytes: number
  readonly nextSeq: number
}

export interface EventLog<P extends Payload> {
  /** False when another worker wrote this position of the log. */
  append(batch: EventBatch<Numbered<P>>): Promise<boolean>
  /** Called after each write that was accepted. */
  written(): void
  /** Called once when a write was refused or failed; nothing is written afterwards. */
  broken(cause: unknown): void
}

/** Another worker writes the log. The step that meets this error stops and leaves the row to its successor. */
export class EventLogConflictError extends Error {
  constructor() {
    super('Another worker writes this event log')
    this.name = 'EventLogConflictError'
  }
}

/** Created once, because creating an error also captures its stack. */
const CLOSED = new EventLogConflictError()

export interface EventLogWriterOptions<P extends Payload> {
  readonly log: EventLog<P>
  readonly fence: number
  readonly nextSeq: number
  readonly now: () => number
  /** Merges two waiting payloads into one event; null when they stay separate. */
  readonly merge: (last: P, next: P) => P | null
  /** The last events below `nextSeq`, when they are in the row and not in the log. */
  readonly tail?: readonly Numbered<P>[]
  /** The last source event that is in the log. */
  readonly sourceSeq?: number | null
}

interface Waiting<P extends Payload> {
  readonly event: Numbered<P>
  readonly bytes: number
  readonly sourceSeq: number | null
}

/** Numbers the events of one job, consecutive from `nextSeq`, and writes them in batches, one at a time, under a fencing token. */
export class EventLogWriter<P extends Payload> {
  readonly #options: EventLogWriterOptions<P>
  #nextSeq: number
  #writtenSeq: number
  /** Events below this number may be in the row already, so they stay as they are. */
  #settledSeq: number
  #sourceSeq: number | null
  #waiting: Waiting<P>[]
  #timer: NodeJS.Timeout | null = null
  #timerAt = 0
  #lastWriteAt = 0
  #writing: Promise<void> | null = null
  #failure: unknown = null

  constructor(options: EventLogWriterOptions<P>) {
    const { nextSeq, tail = [], sourceSeq = null } = options
    this.#options = options
    this.#nextSeq = nextSeq
    this.#writtenSeq = tail[0]?.seq ?? nextSeq
    this.#settledSeq = nextSeq
    this.#sourceSeq = sourceSeq
    this.#waiting = tail.map((event) => ({ event, bytes: bytesOf(event), sourceSeq }))
  }

  /** The number that the next event gets. */
  get nextSeq(): number {
    return this.#nextSeq
  }

  /** Every event below this number is in the log. */
  get writtenSeq(): number {
    return this.#writtenSeq
  }

  /** Waiting events take at most this much of a row, bytes of JSON. */
  get waitingBytes(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** `sourceSeq`: the event of another stream that this one comes from. */
  emit(payload: P, priority: FlushPriority, sourceSeq: number | null = null): void {
    if (this.#failure !== null) return
    this.#sourceSeq = sourceSeq ?? this.#sourceSeq
    const bytes = bytesOf(payload)
    if (!this.#mergeIntoLast(payload, bytes)) {
      const event = { seq: this.#nextSeq, at: this.#options.now(), ...payload }
      this.#waiting.push({ event, bytes, sourceSeq: this.#sourceSeq })
      this.#nextSeq += 1
    }
    if (this.waitingBytes >= MAX_BATCH_BYTES) void this.#write()
    else this.#schedule(priority)
  }

  /** Writes all waiting events; resolves when the log has them. Throws EventLogConflictError or the store's error. */
  async drain(): Promise<void> {
    while (this.#failure === null && (this.#writing !== null || this.#waiting.length > 0)) await this.#write()
    if (this.#failure !== null) throw this.#failure
  }

  /** Copies the waiting events for the row that is written next; the log receives them with later ones. More than `maxBytes` of JSON is written at once. */
  async copyTail(maxBytes: number): Promise<readonly Numbered<P>[]> {
    await this.#writing
    if (this.waitingBytes > maxBytes) await this.drain()
    if (this.#failure !== null) throw this.#failure
    this.#stopTimer()
    this.#settledSeq = this.#nextSeq
    return this.#events()
  }

  /** Ends the log and returns the waiting events for the row's last write; more than `maxBytes` of JSON is written to the log. Nothing is written afterwards. */
  async end(maxBytes: number): Promise<LogTail<P>> {
    await this.copyTail(maxBytes)
    const tail = { events: this.#events(), bytes: this.waitingBytes, nextSeq: this.#nextSeq }
    this.close()
    return tail
  }

  /** Nothing is written from here on. */
  close(): void {
    this.#stopTimer()
    this.#waiting = []
    this.#failure ??= CLOSED
  }

  #events(): readonly Numbered<P>[] {
    return this.#waiting.map(({ event }) => event)
  }

  #mergeIntoLast(payload: P, added: number): boolean {
    const last = this.#waiting.at(-1)
    if (last === undefined || last.event.seq < this.#settledSeq) return false
    const bytes = last.bytes + added - ENVELOPE_BYTES
    const merged = bytes > MAX_BATCH_BYTES ? null : this.#options.merge(last.event, payload)
    if (merged === null) return false
    const event = { ...last.event, ...merged }
    this.#waiting[this.#waiting.length - 1] = { event, bytes, sourceSeq: this.#sourceSeq }
    return true
  }

  /** Keeps a write that is due earlier. */
  #schedule(priority: FlushPriority): void {
    const now = this.#options.now()
    const at = dueAt(priority, now, this.#lastWriteAt)
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
    const batch = this.#failure === null ? this.#nextBatch() : null
    if (batch === null) return Promise.resolve()
    this.#lastWriteAt = this.#options.now()
    this.#writing = this.#append(batch).finally(() => {
      this.#writing = null
      // It became due during the previous write.
      if (this.#waiting.length > 0 && this.#timer === null && this.#failure === null) this.#schedule('now')
    })
    return this.#writing
  }

  #nextBatch(): EventBatch<Numbered<P>> | null {
    const first = this.#waiting[0]
    if (first === undefined) return null
    let bytes = 0
    const end = this.#waiting.findIndex((waiting) => (bytes += waiting.bytes) > MAX_BATCH_BYTES)
    const batch = this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(1, end))
    const events = batch.map(({ event }) => event)
    return { firstSeq: first.event.seq, events, fence: this.#options.fence, sourceSeq: batch.at(-1)?.sourceSeq ?? null }
  }

  async #append(batch: EventBatch<Numbered<P>>): Promise<void> {
    const { log } = this.#options
    try {
      if (!(await log.append(batch))) throw new EventLogConflictError()
      this.#writtenSeq = batch.firstSeq + batch.events.length
      log.written()
    } catch (cause) {
      if (this.#failure !== null) return
      this.#failure = cause
      log.broken(cause)
    }
  }
}

/** Base64 and escaped text count with their size in the row or the batch. */
const bytesOf = (payload: Payload): number => Buffer.byteLength(JSON.stringify(payload)) + ENVELOPE_BYTES

function dueAt(priority: FlushPriority, now: number, lastWriteAt: number): number {
  switch (priority) {
    case 'now':
      return now + NOW_MS
    case 'soon':
      return now + SOON_MS
    case 'paced':
      return Math.max(now + PACED_MS.first, lastWriteAt + PACED_MS.between)
    case 'deferred':
      return now + DEFERRED_MS
  }
}
