import type { WideEvent } from './wide-event.ts'

/** Units as CloudWatch names them. */
export type MetricUnit = 'Milliseconds' | 'Count' | 'None' | 'Seconds'

/** A metric and the wide events that contain it. */
export interface MetricDefinition {
  /** Name of the wide event. */
  readonly event: string
  /** Which of those events; all of them when absent. */
  readonly when?: (event: WideEvent) => boolean
  /** The field that contains the number; without it each event counts 1. */
  readonly value?: string
  readonly unit: MetricUnit
  /** A field that becomes a dimension. Never the tenant: each value is a metric with a price. */
  readonly by?: 'tier'
  /** The service failed: the event's line passes every log level. */
  readonly isFailure?: true
  readonly means: string
}

const PLATFORM_REASONS: readonly unknown[] = ['sandbox_lost', 'dead_letter']
const START_WANTED: readonly unknown[] = ['ready', 'ready_before', 'unwanted']

/** Every metric of the service. Code that emits events has no reference to them; dashboards and alarms are generated from this table. */
export const METRICS = {
  ApiDuration: {
    event: 'http.request',
    value: 'duration_ms',
    unit: 'Milliseconds',
    means: 'from the first byte of a request to that of its answer',
  },
  ApiRequests: { event: 'http.request', unit: 'Count', means: 'requests that were answered' },
  ApiFailed: {
    event: 'http.request',
    when: ({ outcome }) => outcome === 'failed',
    unit: 'Count',
    isFailure: true,
    means: 'answers with 5xx',
  },
  QueueWait: { event: 'execution', value: 'queue_wait_ms', unit: 'Milliseconds', means: 'from acceptance of an execution to its start' },
  Claim: {
    event: 'claim',
    when: ({ outcome }) => outcome === 'live',
    value: 'claim_ms',
    unit: 'Milliseconds',
    means: 'claim of a live sandbox for a container that has none',
  },
  RunTime: { event: 'execution', value: 'run_ms', unit: 'Milliseconds', means: 'time in the kernel' },
  ExecutionTime: {
    event: 'execution',
    value: 'total_ms',
    unit: 'Milliseconds',
    means: 'from acceptance of an execution to its committed end',
  },
  Executions: { event: 'execution', unit: 'Count', means: 'executions that ended' },
  ExecutionFailed: {
    event: 'execution',
    when: (event) => PLATFORM_REASONS.includes(event['reason']),
    unit: 'Count',
    isFailure: true,
    means: 'executions that failed because of the platform, not their code',
  },
  SandboxStart: {
    event: 'sandbox_start',
    when: ({ outcome }) => outcome === 'ready',
    value: 'start_ms',
    unit: 'Milliseconds',
    means: 'from the request for a sandbox until it is ready',
  },
  SandboxStartFailed: {
    event: 'sandbox_start',
    when: ({ outcome }) => !START_WANTED.includes(outcome),
    unit: 'Count',
    isFailure: true,
    means: 'sandboxes that did not start',
  },
  SandboxRefused: {
    event: 'sandbox_refused',
    unit: 'Count',
    isFailure: true,
    means: 'sandboxes that failed an isolation check',
  },
  PlatformThrottled: {
    event: 'platform_throttled',
    unit: 'Count',
    isFailure: true,
    means: 'starts and stops that the platform throttled and that are repeated',
  },
  ColdStart: {
    event: 'sandbox_start',
    when: (event) => event['is_pool'] === false,
    unit: 'Count',
    means: 'starts that a container waits for',
  },
  PoolReady: { event: 'pool', value: 'ready', unit: 'Count', by: 'tier', means: 'unclaimed warm sandboxes' },
  PoolMissing: { event: 'pool', value: 'missing', unit: 'Count', by: 'tier', means: 'warm sandboxes missing from the pool' },
  SandboxSeconds: { event: 'sandbox_end', value: 'sandbox_seconds', unit: 'Seconds', means: 'lifetime of sandboxes that ended' },
  SandboxCost: { event: 'sandbox_end', value: 'cost_usd', unit: 'None', means: 'list price of sandboxes that ended, US dollars' },
  MessageFailed: {
    event: 'message',
    when: ({ outcome }) => outcome === 'error',
    unit: 'Count',
    isFailure: true,
    means: 'messages whose step failed and that are redelivered',
  },
  DeadLetter: { event: 'dead_letter', unit: 'Count', isFailure: true, means: 'messages in a dead-letter queue' },
  RepairFailed: {
    event: 'repair',
    when: ({ outcome }) => outcome === 'error',
    unit: 'Count',
    isFailure: true,
    means: 'repairs that did not succeed',
  },
} as const satisfies Record<string, MetricDefinition>

export type MetricName = keyof typeof METRICS
export const METRIC_NAMES = Object.keys(METRICS) as readonly MetricName[]
export const definitionOf = (name: MetricName): MetricDefinition => METRICS[name]

export interface Measured {
  readonly name: MetricName
  readonly value: number
  readonly unit: MetricUnit
  readonly by: 'tier' | null
  readonly isFailure: boolean
}

const byEvent: ReadonlyMap<string, readonly MetricName[]> = Map.groupBy(METRIC_NAMES, (name) => definitionOf(name).event)

/** The metrics of one event. A field that is not a number yields none. */
export function measure(event: WideEvent): readonly Measured[] {
  return (byEvent.get(event.event) ?? []).flatMap((name): Measured[] => {
    const { when, value, unit, by, isFailure } = definitionOf(name)
    if (when !== undefined && !when(event)) return []
    const number = value === undefined ? 1 : event[value]
    return typeof number === 'number' && Number.isFinite(number)
      ? [{ name, value: number, unit, by: by ?? null, isFailure: isFailure ?? false }]
      : []
  })
}
