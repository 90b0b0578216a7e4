import type { WideEvent } from '../model/wide-event.ts'

/** One wide event per request and per job: ids, tenant, outcome, phases in ms. Never code, outputs, prompts, keys or signed URLs. */
export interface Telemetry {
  emit(event: WideEvent): void
}

/** How much a deployment logs: `warn` and `error` leave out events that are neither failures nor counted by a metric. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
