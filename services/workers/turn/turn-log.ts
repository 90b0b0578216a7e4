import { topicOf, type EventPayload, type ResponseEvent } from '../../model/events.ts'
import { EXTENSION_EVENT, extensionData } from '../../model/responses/extension-event.ts'
import { ITEM_TYPES } from '../../model/responses/items/item-types.ts'
import { hasEventStream, isCheckpointed, TERMINAL_EVENTS, type ResponseRecord } from '../../model/responses/response.ts'
import { EventLogWriter, type FlushPriority, type LogTail } from '../../jobs/event-log-writer.ts'
import type { TurnDeps } from './deps.ts'

/** Events that are written once, even if the step that wrote them crashed before its commit. */
const ONCE: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.done',
  ...ITEM_TYPES.flatMap(({ progressEvents = [] }) => progressEvents),
])

export interface TurnLogOptions {
  /** Events of the log that the predecessor did not commit, from the row's tail on; null when it committed all. */
  readonly logged: readonly ResponseEvent[] | null
  /** Called when the log cannot be written. */
  readonly onBroken: (cause: unknown) => void
}

/** The event log of a response, as one step writes it. */
export class TurnLog {
  readonly #row: ResponseRecord
  readonly #writer: EventLogWriter<EventPayload>
  readonly #emitted: ReadonlySet<string>
  readonly #firstSeq: number
  /** Events of a predecessor that crashed before it committed their content. */
  readonly uncommitted: readonly ResponseEvent[]

  constructor(deps: Pick<TurnDeps, 'table' | 'signals' | 'clock'>, row: ResponseRecord, { logged, onBroken }: TurnLogOptions) {
    this.#row = row
    this.uncommitted = (logged ?? []).filter((event) => event.seq >= row.nextSeq)
    this.#emitted = new Set(this.uncommitted.map(({ type, data }) => eventKey(type, data)))
    this.#writer = new EventLogWriter({
      log: {
        append: (batch) => deps.table.events.append({ kind: 'response', tenant: row.tenant, id: row.id }, batch),
        written: () => deps.signals.notify(topicOf('response', row.id)),
        broken: onBroken,
      },
      fence: row.fence,
      nextSeq: (this.uncommitted.at(-1)?.seq ?? row.nextSeq - 1) + 1,
      // Every writer begins with the row's tail: when the log has anything from there on, it has the tail.
      tail: (logged ?? []).length > 0 ? [] : row.tailEvents,
      now: () => deps.clock.now(),
      merge: mergeDeltas,
    })
    this.#firstSeq = this.#writer.writtenSeq
  }

  /** The number that the next event gets. */
  get nextSeq(): number {
    return this.#writer.nextSeq
  }

  /** Every event below this number is in the log. */
  get writtenSeq(): number {
    return this.#writer.writtenSeq
  }

  /** Throws for a terminal event: `commitEnd` writes it with the row's end, so no reader has it before. */
  emit(payload: EventPayload, priority: FlushPriority): void {
    if (TERMINAL_EVENTS.includes(payload.type)) throw new Error(`${payload.type} is written with the end of the row only`)
    if (!hasEventStream(this.#row)) return
    if (ONCE.has(payload.type) && this.#emitted.has(eventKey(payload.type, payload.data))) return
    this.#writer.emit(payload, priority)
  }

  /** Whether no predecessor can append: it committed everything that it wrote, or this step has written its next position. */
  get isFenced(): boolean {
    return !hasEventStream(this.#row) || isCheckpointed(this.#row) || this.writtenSeq > this.#firstSeq
  }

  /**
   * Writes the next position of the log. A predecessor that was only paused writes its batches in order, so it can append nothing afterwards. Throws
   * EventLogConflictError when the predecessor has written that position.
   */
  async fence(): Promise<void> {
    if (this.isFenced) return
    if (this.nextSeq === this.#firstSeq) this.emit({ type: EXTENSION_EVENT, data: extensionData('taken_over', {}) }, 'soon')
    await this.#writer.drain()
  }

  /** The waiting events for the row, at most this many bytes of JSON. The log receives the others, and all of them before it is fenced. */
  async copyTail(maxBytes: number): Promise<readonly ResponseEvent[]> {
    if (!this.isFenced) await this.#writer.drain()
    return this.#writer.copyTail(maxBytes)
  }

  /** Ends the log and returns waiting events for the row's last commit, up to this many bytes of JSON. Nothing is written afterwards. */
  end(maxBytes: number): Promise<LogTail<EventPayload>> {
    return this.#writer.end(maxBytes)
  }

  close(): void {
    this.#writer.close()
  }
}

/** The same for two events that say the same of one item, or of one command of it. */
const eventKey = (type: string, data: Readonly<Record<string, unknown>>): string =>
  [type, data['output_index'], data['command_index']].filter((part) => typeof part === 'string' || typeof part === 'number').join(':')

/** Merges waiting deltas of one item into one event. */
export function mergeDeltas(last: EventPayload, next: EventPayload): EventPayload | null {
  const { delta } = next.data
  const before = last.data['delta']
  if (last.type !== next.type || last.data['item_id'] !== next.data['item_id'] || typeof delta !== 'string' || typeof before !== 'string')
    return null
  return { type: last.type, data: { ...last.data, delta: before + delta } }
}
