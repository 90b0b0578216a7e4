import type { ExecutionEventPayload } from '../../core/events.ts'
import type { Execution } from '../../core/executions/execution.ts'
import { displayOutput, type OutputAssembler } from '../../core/executions/output-assembler.ts'
import { derivedObjectKey } from '../../core/object-keys.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { SupervisorEnvelope, SupervisorEvent } from '../../core/ports/supervisor.ts'
import type { ExecutionLog } from './execution-log.ts'
import { InvalidOutputError } from './failures.ts'
import { spillBundle } from './spill-outputs.ts'

export interface RecorderOptions {
  readonly objects: ObjectStore
  readonly row: Execution
  readonly assembler: OutputAssembler
  readonly log: ExecutionLog
  /** The sandbox's: with it the objects of big outputs have keys that a successor finds again. */
  readonly secret: string
}

/** Puts a supervisor's events into the result and, those that are new, into the event log. */
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

  #add(event: SupervisorEvent): void {
    const { assembler, log } = this.#options
    const payload = deterministic(() => {
      assembler.add(event)
      return event.seq <= log.storedThrough ? null : payloadOf(event, assembler)
    })
    if (payload !== null) log.writer.emit(payload, 'paced', event.seq)
  }

  async #spill(event: SupervisorEvent): Promise<SupervisorEvent> {
    if (event.type !== 'display' && event.type !== 'update_display') return event
    const { objects, row, log, secret } = this.#options
    const keyOf = (mime: string): string =>
      derivedObjectKey(row.tenant, 'outputs', row.containerId, secret, `${row.id} ${event.seq} ${mime}`)
    const isStored = event.seq <= log.storedThrough
    return { ...event, data: await spillBundle(objects, event.data, { keyOf, isStored }) }
  }
}

/** Work on a sandbox's data that calls no store fails in every retry if it fails once. */
function deterministic<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new InvalidOutputError('An output of the code could not be read', { cause })
  }
}

function payloadOf(event: SupervisorEvent, assembler: OutputAssembler): ExecutionEventPayload | null {
  switch (event.type) {
    case 'stream':
      return { type: event.name, cell: assembler.cellIndex(event.index), text: event.text }
    case 'display':
      return {
        type: 'output',
        cell: assembler.cellIndex(event.index),
        output: displayOutput(event),
        ...(event.displayId === null ? {} : { displayId: event.displayId }),
      }
    case 'update_display':
      return {
        type: 'output',
        cell: assembler.cellIndex(event.index),
        displayId: event.displayId,
        replaces: true,
        output: { output_type: 'display_data', data: event.data, metadata: event.metadata },
      }
    case 'clear_output':
      return { type: 'clear', cell: assembler.cellIndex(event.index), wait: event.wait }
    case 'error':
      return {
        type: 'output',
        cell: assembler.cellIndex(event.index),
        output: { output_type: 'error', ename: event.name, evalue: event.value, traceback: event.traceback },
      }
    case 'started':
    case 'cell_started':
    case 'cell_done':
    case 'done':
      return null
  }
}
