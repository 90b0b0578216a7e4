import type { Telemetry } from '../../../ports/telemetry.ts'
import { logLine } from '../../../adapters/storage/json-log.ts'

/** One JSON line per event on standard error; when silent, only a sentence about faults of the storage. */
export const createLogTelemetry = (log: 'silent' | 'events'): Telemetry => ({
  emit: (event) => {
    if (log === 'events') process.stderr.write(`${logLine(event, new Date())}\n`)
    else if (event.event === 'storage') process.stderr.write(`${event.outcome === 'error' ? '✗' : '!'} ${String(event.detail)}\n`)
  },
})

/** Passes every event to each receiver. */
export const combineTelemetry = (...receivers: readonly Telemetry[]): Telemetry => ({
  emit: (event) => {
    for (const receiver of receivers) receiver.emit(event)
  },
})
