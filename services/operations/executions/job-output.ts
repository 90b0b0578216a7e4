import { withoutNull } from '../../model/executions/event-schema.ts'
import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import type { EventPayload } from '../../model/events.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { itemPrinted, type ResponseItem } from '../../model/responses/items/item-types.ts'
import { hasEventStream, hasExtensionEvents, type PendingCall, type ResponseRecord } from '../../model/responses/response.ts'

/** Limits of live output per job; the result contains the rest. */
const MAX_EVENTS = 400
const MAX_CHARS = 64 * 1024
const EVENTS_PER_READ = 500

/** Whether the stream of a response shows what this job prints. OpenAI's wire has events only for output with a separate item. */
export const showsOutput = (row: Pick<ResponseRecord, 'request'>, { itemIndex, outputIndex }: PendingCall): boolean =>
  outputIndex === itemIndex ? hasExtensionEvents(row) : hasEventStream(row)

export type JobOutputEvent = EventPayload & { readonly at: number }

/**
 * Reads the text that a pending job prints, as events of its response: one event per text event of the execution, in order. The sequence numbers
 * follow from this rule alone, so a reader can receive the text before the turn's next step writes it to the response's log, where it has the same
 * numbers (docs/turn-log.md). `item`: the one at the call's `outputIndex`.
 */
export class JobOutputReader {
  readonly #events: EventStore
  readonly #tenant: string
  readonly #call: PendingCall
  readonly #item: ResponseItem
  #after = -1
  #count = 0
  #chars = 0
  #isFull = false

  constructor(
    events: EventStore,
    { tenant, call, item }: { readonly tenant: string; readonly call: PendingCall; readonly item: ResponseItem },
  ) {
    this.#events = events
    this.#tenant = tenant
    this.#call = call
    this.#item = item
  }

  get executionId(): string {
    return this.#call.executionId
  }

  /** Events that were not read before. For an ended execution these are all remaining events, including the tail in its row. */
  async next(ended: Pick<Execution, 'tailEvents'> | null): Promise<readonly JobOutputEvent[]> {
    const payloads: JobOutputEvent[] = []
    const tail = ended?.tailEvents ?? []
    // Event 0 is never in the log, so a tail that starts with event 1 is complete.
    const isAllInTail = (tail[0]?.seq ?? Infinity) <= Math.max(1, this.#after + 1)
    while (!this.#isFull && !isAllInTail) {
      const owner = { kind: 'execution', tenant: this.#tenant, id: this.#call.executionId } as const
      const page = await this.#events.read<ExecutionEvent>(owner, this.#after, EVENTS_PER_READ)
      this.#take(page, payloads)
      if (page.length === 0 || ended === null) break
    }
    this.#take(tail, payloads)
    return payloads
  }

  #take(events: readonly ExecutionEvent[], payloads: JobOutputEvent[]): void {
    const { outputIndex, jobIndex } = this.#call
    for (const event of events) {
      if (event.seq <= this.#after) continue
      this.#after = event.seq
      if (this.#isFull || (event.type !== 'stdout' && event.type !== 'stderr')) continue
      this.#chars += event.text.length
      this.#count += 1
      this.#isFull = this.#chars > MAX_CHARS || this.#count > MAX_EVENTS
      if (this.#isFull) return
      payloads.push({
        at: event.at,
        ...itemPrinted(outputIndex, this.#item, { jobIndex, stream: event.type, text: withoutNull(event.text) }),
      })
    }
  }
}
