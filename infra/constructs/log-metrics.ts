import { Duration } from 'aws-cdk-lib'
import { Metric, Stats, Unit } from 'aws-cdk-lib/aws-cloudwatch'
import { FilterPattern, MetricFilter, type ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import type { FunctionId } from '../function-name.ts'

interface LogMetric {
  readonly log: FunctionId
  /** In CloudWatch's words for JSON lines. */
  readonly pattern: string
  /** A number in the event; without it each event counts 1. */
  readonly value?: string
  readonly unit: Unit
}

/** Metrics that are counted from the wide events in the functions' logs. The code that emits an event knows nothing of CloudWatch. */
const LOG_METRICS = {
  QueueWait: { log: 'run', pattern: '$.event = "execution"', value: '$.queue_wait_ms', unit: Unit.MILLISECONDS },
  ExecutionTime: { log: 'run', pattern: '$.event = "execution"', value: '$.total_ms', unit: Unit.MILLISECONDS },
  SandboxStart: { log: 'place', pattern: '$.event = "sandbox_start" && $.outcome = "ready"', value: '$.start_ms', unit: Unit.MILLISECONDS },
  SandboxStartFailed: {
    log: 'place',
    pattern: '$.event = "sandbox_start" && $.outcome != "ready" && $.outcome != "unwanted"',
    unit: Unit.COUNT,
  },
  /** A start that a container waits for: nothing warm was there. */
  ColdStart: { log: 'place', pattern: '$.event = "sandbox_start" && $.is_pool IS FALSE', unit: Unit.COUNT },
  ApiFailed: { log: 'api', pattern: '$.event = "http.request" && $.outcome = "failed"', unit: Unit.COUNT },
  ApiDuration: { log: 'api', pattern: '$.event = "http.request"', value: '$.duration_ms', unit: Unit.MILLISECONDS },
  RepairFailed: { log: 'reconciler', pattern: '$.event = "repair" && $.outcome = "error"', unit: Unit.COUNT },
} as const satisfies Record<string, LogMetric>
export type LogMetricName = keyof typeof LOG_METRICS

/** Makes the metrics; returns them as five-minute sums, or 95th percentiles where they measure time. */
export function createLogMetrics(
  scope: Construct,
  stage: string,
  logs: Readonly<Record<FunctionId, ILogGroup>>,
): Readonly<Record<LogMetricName, Metric>> {
  const namespace = `Cellblock/${stage}`
  const make = ([name, metric]: [string, LogMetric]) => {
    new MetricFilter(scope, name, {
      logGroup: logs[metric.log],
      filterPattern: FilterPattern.literal(`{ ${metric.pattern} }`),
      metricNamespace: namespace,
      metricName: name,
      metricValue: metric.value ?? '1',
      unit: metric.unit,
    })
    return [
      name,
      new Metric({
        namespace,
        metricName: name,
        statistic: metric.value === undefined ? Stats.SUM : Stats.percentile(95),
        period: Duration.minutes(5),
      }),
    ]
  }
  return Object.fromEntries(Object.entries(LOG_METRICS).map(make)) as Record<LogMetricName, Metric>
}
