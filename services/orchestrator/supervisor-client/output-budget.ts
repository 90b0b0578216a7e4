import { SupervisorError, type SupervisorEvent } from '../../core/ports/supervisor.ts'

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

type Kind = 'display' | 'error' | 'stdout' | 'stderr'

/** Counts the events of one stream. Outputs beyond the bounds are left out, and the envelope names them. */
export class OutputBudget {
  readonly #bounds: OutputBounds
  readonly #dropped = new Map<Kind, { kept: number; total: number }>()
  #events = 0
  #richEvents = 0
  #richBytes = 0
  #textBytes = 0

  constructor(bounds: OutputBounds = OUTPUT_BOUNDS) {
    this.#bounds = bounds
  }

  /** The event as it may be used; null when it is left out. `bytes`: its JSON. Throws SupervisorError `protocol` for too many events. */
  admit(event: SupervisorEvent, bytes: number): SupervisorEvent | null {
    this.#events += 1
    if (this.#events > this.#bounds.events && event.type !== 'done')
      throw new SupervisorError('protocol', `The sandbox sent more than ${this.#bounds.events} events.`)
    switch (event.type) {
      case 'display':
      case 'update_display':
        return this.#count('display', bytes, this.#fitsRich(bytes)) ? event : null
      case 'error':
        return this.#count('error', bytes, this.#fitsRich(bytes)) ? event : null
      case 'stream':
        this.#textBytes += bytes
        return this.#count(event.name, bytes, this.#textBytes <= this.#bounds.textBytes) ? event : null
      case 'done':
        return { ...event, truncated: [...event.truncated, ...this.#truncated()] }
      case 'started':
      case 'cell_started':
      case 'clear_output':
      case 'cell_done':
        return event
    }
  }

  #fitsRich(bytes: number): boolean {
    this.#richEvents += 1
    this.#richBytes += bytes
    return this.#richEvents <= this.#bounds.richEvents && this.#richBytes <= this.#bounds.richBytes
  }

  #count(kind: Kind, bytes: number, isKept: boolean): boolean {
    const counts = this.#dropped.get(kind) ?? { kept: 0, total: 0 }
    this.#dropped.set(kind, { kept: counts.kept + (isKept ? bytes : 0), total: counts.total + bytes })
    return isKept
  }

  #truncated() {
    return [...this.#dropped]
      .filter(([, { kept, total }]) => kept < total)
      .map(([what, { kept, total }]) => ({ what, totalBytes: total, keptBytes: kept, reason: 'too_much_output' }))
  }
}
