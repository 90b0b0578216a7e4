import { describeCause } from '../../model/describe-cause.ts'
import { measure } from '../../model/metrics.ts'
import type { QueueName } from '../../model/messages.ts'
import type { LogLevel, Telemetry } from '../../ports/telemetry.ts'
import type { WideEvent } from '../../model/wide-event.ts'
import { traceFields } from '../../model/trace.ts'

export const METRIC_NAMESPACE = 'Cellblock'

/** Failures of the service have level ERROR, which every log level includes; other events, including failed user code, have INFO. */
const levelOf = (event: WideEvent): 'ERROR' | 'INFO' =>
  event.outcome === 'error' || measure(event).some(({ isFailure }) => isFailure) ? 'ERROR' : 'INFO'

/** One event as a line of JSON, without its end: time, level, the trace that it belongs to, its fields. */
export const logLine = (event: WideEvent, at: Date): string => JSON.stringify(record(event, at))

/** The same line with CloudWatch's embedded metric format for metrics, with the dimensions stage and, for pools, tier. */
export function metricLine(event: WideEvent, at: Date, stage: string): string {
  const measured = measure(event)
  if (measured.length === 0) return logLine(event, at)
  const directives = [...Map.groupBy(measured, ({ by }) => by)].map(([by, metrics]) => ({
    Namespace: METRIC_NAMESPACE,
    Dimensions: [by === null ? ['stage'] : ['stage', by]],
    Metrics: metrics.map(({ name, unit }) => ({ Name: name, Unit: unit })),
  }))
  return JSON.stringify({
    _aws: { Timestamp: at.getTime(), CloudWatchMetrics: directives },
    ...record(event, at),
    stage,
    ...Object.fromEntries(measured.map(({ name, value }) => [name, value])),
  })
}

const record = (event: WideEvent, at: Date) => ({ timestamp: at.toISOString(), level: levelOf(event), ...traceFields(), ...event })

/** Events with metrics are written at every level, because alarms compare failures with them. */
export const isLogged = (event: WideEvent, level: LogLevel): boolean =>
  level === 'debug' || level === 'info' || levelOf(event) === 'ERROR' || measure(event).length > 0

/** One JSON line per event on standard output, where Lambda's logs are collected and CloudWatch finds the metrics in them. */
export const createJsonLog = (stage: string, level: LogLevel): Telemetry => ({
  emit: (event) => {
    if (isLogged(event, level)) process.stdout.write(`${metricLine(event, new Date(), stage)}\n`)
  },
})

/** Logs a failed message of this queue, which will be redelivered. */
export const logFailedMessage =
  (telemetry: Telemetry, queue: QueueName) =>
  (error: unknown, messageId: string): void =>
    telemetry.emit({
      event: 'message',
      outcome: 'error',
      queue,
      message: messageId,
      detail: describeCause(error),
    })
