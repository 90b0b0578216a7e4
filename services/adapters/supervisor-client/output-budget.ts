import { outputKind } from '../../model/executions/events/event-types.ts'
import type { OutputKind } from '../../model/executions/events/sandbox-event-type.ts'
import { SupervisorError, type SupervisorEvent } from '../../ports/supervisor.ts'

/**
 * What one execution may send, in number and in bytes of JSON. The supervisor bounds displays at 20 MiB, errors at 4 MiB and 1,000, displays at
 * 5,000; these bounds leave a margin for escapes in JSON.
 */
export interface OutputBounds {
  /** Displays, updates and errors together. */
  readonly richEvents: number
  readonly richBytes: number
  readonly textBytes: number
  /** Events of any kind. */
  readonly events: number
}
export const OUTPUT_BOUNDS: OutputBounds = {
  richEvents: 10_000,
  richBytes: 40 * 1024 * 1024,
  textBytes: 32 * 1024 * 1024,
  events: 200_000,
}

/** Counts the events of one stream. Outputs beyond the bounds are left out, and the envelope names them. */
export class OutputBudget {
  readonly #bounds: OutputBounds
  readonly #dropped = new Map<OutputKind, { kept: number; total: number }>()
  #events = 0
  #richEvents = 0
  #richBytes = 0
  #textBytes = 0
  #missed = 0

  constructor(bounds: OutputBounds = OUTPUT_BOUNDS) {
    this.#bounds = bounds
  }

  /** The event within the bounds; null when it is left out. `bytes`: size of its JSON. Throws SupervisorError `protocol` for too many events. */
  admit(event: SupervisorEvent, bytes: number): SupervisorEvent | null {
    this.#events += 1
    if (this.#events > this.#bounds.events && event.type !== 'done')
      throw new SupervisorError('protocol', `The sandbox sent more than ${this.#bounds.events} events.`)
    if (event.type === 'done') return { ...event, truncated: [...event.truncated, ...this.#truncated()] }
    const kind = outputKind(event)
    return kind === null || this.#count(kind, bytes, this.#fits(kind, bytes)) ? event : null
  }

  /** Counts events that the sandbox no longer had when they were asked for. */
  missed(events: number): void {
    this.#missed += events
  }

  #fits(kind: OutputKind, bytes: number): boolean {
    if (kind === 'stdout' || kind === 'stderr') {
      this.#textBytes += bytes
      return this.#textBytes <= this.#bounds.textBytes
    }
    this.#richEvents += 1
    this.#richBytes += bytes
    return this.#richEvents <= this.#bounds.richEvents && this.#richBytes <= this.#bounds.richBytes
  }

  #count(kind: OutputKind, bytes: number, isKept: boolean): boolean {
    const counts = this.#dropped.get(kind) ?? { kept: 0, total: 0 }
    this.#dropped.set(kind, { kept: counts.kept + (isKept ? bytes : 0), total: counts.total + bytes })
    return isKept
  }

  #truncated() {
    const cut = [...this.#dropped]
      .filter(([, { kept, total }]) => kept < total)
      .map(([what, { kept, total }]) => ({ what, totalBytes: total, keptBytes: kept, reason: 'too_much_output' }))
    return this.#missed === 0 ? cut : [...cut, { what: 'events', totalBytes: 0, keptBytes: 0, reason: 'events_dropped' }]
  }
}
