import type { Telemetry } from '../core/ports/telemetry.ts'
import { logLine } from '../storage/json-log.ts'

/** One JSON line an event on standard error; or only, as a sentence, that table, queues or objects cannot be kept. */
export const createLocalTelemetry = (log: 'silent' | 'events'): Telemetry => ({
  emit: (event) => {
    if (log === 'events') process.stderr.write(`${logLine(event, new Date())}\n`)
    else if (event.event === 'emulator') process.stderr.write(`✗ ${String(event.detail)}\n`)
  },
})
