import type { ExecutionEvent, ResponseEvent } from '../events.ts'
import { EXTENSION_EVENT, extensionData } from '../responses/extension-event.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Execution } from './execution.ts'
import type { PendingCall } from '../responses/response.ts'

/**
 * What running code prints, told in the stream of the response that runs it: one event for each text event of the execution, in its order.
 * The numbers follow from that alone. So a reader may see the text while the code runs, before the turn's next step has written it to
 * the response's own log, and finds it there under the same numbers.
 */
const CODE_OUTPUT = 'code_interpreter_call_output'

/** Whether an event tells what the code of the item at this `output_index` printed. */
export function isCodeOutput({ type, data }: Pick<ResponseEvent, 'type' | 'data'>, outputIndex: number): boolean {
  const told = data['x_cellblock'] as Readonly<Record<string, unknown>> | undefined
  return type === EXTENSION_EVENT && told?.['type'] === CODE_OUTPUT && told['output_index'] === outputIndex
}

/** Of one call this many events and characters are told as they come; the whole is in its logs. */
const MAX_EVENTS = 400
const MAX_CHARS = 64 * 1024
const EVENTS_PER_READ = 500

export interface OutputFact {
  readonly at: number
  readonly type: typeof EXTENSION_EVENT
  readonly data: Readonly<Record<string, unknown>>
}

/** Reads on in what an execution prints. */
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

  /** What was not read before: of a running execution what the log has by now, else all of it, with what rides in its row. */
  async next(ended: Pick<Execution, 'tailEvents'> | null): Promise<readonly OutputFact[]> {
    const facts: OutputFact[] = []
    const tail = ended?.tailEvents ?? []
    // Number 0 is never in the log: a tail that begins with the next one is all there is.
    const isAllInTail = (tail[0]?.seq ?? Infinity) <= Math.max(1, this.#after + 1)
    while (!this.#isFull && !isAllInTail) {
      const owner = { kind: 'execution', tenant: this.#tenant, id: this.#call.executionId } as const
      const page = await this.#events.read<ExecutionEvent>(owner, this.#after, EVENTS_PER_READ)
      this.#take(page, facts)
      if (page.length === 0 || ended === null) break
    }
    this.#take(tail, facts)
    return facts
  }

  #take(events: readonly ExecutionEvent[], facts: OutputFact[]): void {
    for (const event of events) {
      if (event.seq <= this.#after) continue
      this.#after = event.seq
      if (this.#isFull || (event.type !== 'stdout' && event.type !== 'stderr')) continue
      this.#chars += event.text.length
      this.#count += 1
      this.#isFull = this.#chars > MAX_CHARS || this.#count > MAX_EVENTS
      if (this.#isFull) return
      const told = { output_index: this.#call.itemIndex, item_id: this.#itemId, stream: event.type, text: event.text }
      facts.push({ at: event.at, type: EXTENSION_EVENT, data: extensionData(CODE_OUTPUT, told) })
    }
  }
}
