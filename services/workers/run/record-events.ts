import type { Execution } from '../../model/executions/execution.ts'
import { loggedEvent, type SandboxEvent } from '../../model/executions/events/event-types.ts'
import type { OutputAssembler } from '../../model/executions/output-assembler.ts'
import { derivedObjectKey } from '../../model/object-keys.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { SupervisorEnvelope, SupervisorEvent } from '../../ports/supervisor.ts'
import type { ExecutionLog } from './execution-log.ts'
import { InvalidOutputError } from './failures.ts'
import { spillBundle } from './spill-outputs.ts'

export interface RecorderOptions {
  readonly objects: ObjectStore
  readonly row: Execution
  readonly assembler: OutputAssembler
  readonly log: ExecutionLog
  /** The sandbox's private key; the object keys of large outputs are derived from it, so a successor computes the same keys. */
  readonly secret: string
}

/** Adds a supervisor's events to the result, and new ones to the event log. */
export class EventRecorder {
  readonly #options: RecorderOptions
  #lastSeq = -1

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** The last supervisor event that was recorded; −1 for none. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Returns the envelope; null when the stream ended without one. Throws InvalidOutputError for an event that no retry can read. */
  async record(events: AsyncIterable<SupervisorEvent>): Promise<SupervisorEnvelope | null> {
    for await (const event of events) {
      this.#lastSeq = event.seq
      if (event.type === 'done') return event
      this.#add(await this.#spill(event))
    }
    return null
  }

  #add(event: SandboxEvent): void {
    const { assembler, log } = this.#options
    const payload = deterministic(() => {
      assembler.add(event)
      return event.seq <= log.storedThrough ? null : loggedEvent(event, (index) => assembler.cellIndex(index))
    })
    if (payload !== null) log.writer.emit(payload, 'paced', event.seq)
  }

  async #spill(event: SandboxEvent): Promise<SandboxEvent> {
    if (event.type !== 'display' && event.type !== 'update_display') return event
    const { objects, row, log, secret } = this.#options
    const keyOf = (mime: string): string =>
      derivedObjectKey(row.tenant, 'outputs', row.containerId, secret, `${row.id} ${event.seq} ${mime}`)
    const isStored = event.seq <= log.storedThrough
    return { ...event, data: await spillBundle(objects, event.data, { keyOf, isStored }) }
  }
}

/** Work on a sandbox's data without a call of a store would fail in every retry. */
function deterministic<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new InvalidOutputError('An output of the code could not be read', { cause })
  }
}
