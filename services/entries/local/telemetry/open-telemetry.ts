import type { Telemetry } from '../../../ports/telemetry.ts'
import type { LocalConfig } from '../config.ts'
import { combineTelemetry, createLogTelemetry } from './local-telemetry.ts'
import { PrometheusMetrics } from './prometheus.ts'

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
