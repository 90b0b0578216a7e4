import { silentTelemetry, type Telemetry } from '../core/ports/telemetry.ts'
import { logLine } from '../storage/json-log.ts'

/** One JSON line an event on standard error, or nothing. */
export const createLocalTelemetry = (log: 'silent' | 'events'): Telemetry =>
  log === 'silent' ? silentTelemetry : { emit: (event) => void process.stderr.write(`${logLine(event, new Date())}\n`) }
