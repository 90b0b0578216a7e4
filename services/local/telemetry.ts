import { silentTelemetry, type Telemetry } from '../core/ports/telemetry.ts'

/** One JSON line an event on standard error, or nothing. */
export const createLocalTelemetry = (log: 'silent' | 'events'): Telemetry =>
  log === 'silent'
    ? silentTelemetry
    : { emit: (event) => process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), ...event })}\n`) }
