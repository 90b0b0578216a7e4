import type { ExecutionEvent } from '../../model/executions/execution-event.ts'
import type { ResponseEvent } from '../../model/events.ts'
import { EXTENSION_EVENT, extensionData } from '../../model/responses/extension-event.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Execution } from '../../model/executions/execution.ts'
import type { PendingCall } from '../../model/responses/response.ts'

/**
 * Text that running code prints, as events of the response that runs it: one event per text event of the execution, in order. The sequence
 * numbers follow from this rule alone, so a reader can receive the text before the turn's next step writes it to the response's log, where it
 * has the same numbers.
 */
const CODE_OUTPUT = 'code_interpreter_call_output'

/** Whether an event contains text that the code of the item at this `output_index` printed. */
export function isCodeOutput({ type, data }: Pick<ResponseEvent, 'type' | 'data'>, outputIndex: number): boolean {
  const extension = data['x_cellblock'] as Readonly<Record<string, unknown>> | undefined
  return type === EXTENSION_EVENT && extension?.['type'] === CODE_OUTPUT && extension['output_index'] === outputIndex
}

/** Limits of live output per call; the call's logs contain the rest. */
const MAX_EVENTS = 400
const MAX_CHARS = 64 * 1024
const EVENTS_PER_READ = 500

export interface CodeOutputEvent {
  readonly at: number
  readonly type: typeof EXTENSION_EVENT
  readonly data: Readonly<Record<string, unknown>>
}

/** Reads the text events of one execution incrementally. */
export class CodeOutputReader {
  readonly #events: EventStore
  readonly #tenant: string
  readonly #call: PendingCall
  readonly #itemId: string
  #after = -1
  #count = 0
  #chars = 0
  #isFull = false

  constructor(events: EventStore, tenant: string, call: PendingCall, itemId: string) {
    this.#events = events
    this.#tenant = tenant
    this.#call = call
    this.#itemId = itemId
  }

  get executionId(): string {
    return this.#call.executionId
  }

  /** Events that were not read before. For an ended execution these are all remaining events, including the tail in its row. */
  async next(ended: Pick<Execution, 'tailEvents'> | null): Promise<readonly CodeOutputEvent[]> {
    const payloads: CodeOutputEvent[] = []
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

  #take(events: readonly ExecutionEvent[], payloads: CodeOutputEvent[]): void {
    for (const event of events) {
      if (event.seq <= this.#after) continue
      this.#after = event.seq
      if (this.#isFull || (event.type !== 'stdout' && event.type !== 'stderr')) continue
      this.#chars += event.text.length
      this.#count += 1
      this.#isFull = this.#chars > MAX_CHARS || this.#count > MAX_EVENTS
      if (this.#isFull) return
      const output = { output_index: this.#call.itemIndex, item_id: this.#itemId, stream: event.type, text: event.text }
      payloads.push({ at: event.at, type: EXTENSION_EVENT, data: extensionData(CODE_OUTPUT, output) })
    }
  }
}
