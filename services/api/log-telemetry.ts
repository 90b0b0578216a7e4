import type { Telemetry } from '../core/ports/telemetry.ts'

/** One line of JSON for each event, where Lambda's log takes it. */
export const logTelemetry: Telemetry = { emit: (event) => void process.stdout.write(`${JSON.stringify(event)}\n`) }
