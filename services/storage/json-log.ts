import type { Telemetry } from '../core/ports/telemetry.ts'

/** One JSON line an event on standard output, where Lambda's logs are collected. */
export const jsonLog: Telemetry = {
  emit: (event) => void process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), ...event })}\n`),
}
