import type { Telemetry } from '../../../ports/telemetry.ts'
import type { LocalConfig } from '../config.ts'
import { PrometheusMetrics } from './prometheus.ts'
import { logLine } from '../../../adapters/storage/json-log.ts'

export interface LocalTelemetry extends Telemetry {
  readonly metrics: PrometheusMetrics
  close(): Promise<void>
}

/** Log lines, metrics and, with an OTLP endpoint, spans. The OpenTelemetry packages are loaded only then: they take 15 MB of memory. */
export async function openTelemetry({ log, exportsTraces }: Pick<LocalConfig, 'log' | 'exportsTraces'>): Promise<LocalTelemetry> {
  const metrics = new PrometheusMetrics()
  const traces = exportsTraces ? (await import('./otlp-traces.ts')).startTraceExport() : null
  const all = combineTelemetry(createLogTelemetry(log), metrics, ...(traces === null ? [] : [traces]))
  return { emit: (event) => all.emit(event), metrics, close: async () => traces?.close() }
}

/** One JSON line per event on standard error; when silent, only a sentence about faults of the storage. */
const createLogTelemetry = (log: 'silent' | 'events'): Telemetry => ({
  emit: (event) => {
    if (log === 'events') process.stderr.write(`${logLine(event, new Date())}\n`)
    else if (event.event === 'storage') process.stderr.write(`${event.outcome === 'error' ? '✗' : '!'} ${String(event.detail)}\n`)
  },
})

/** Passes every event to each receiver. */
const combineTelemetry = (...receivers: readonly Telemetry[]): Telemetry => ({
  emit: (event) => {
    for (const receiver of receivers) receiver.emit(event)
  },
})
