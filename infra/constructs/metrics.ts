import { Duration } from 'aws-cdk-lib'
import { Metric, Stats, Unit } from 'aws-cdk-lib/aws-cloudwatch'
import { definitionOf, type MetricName, type MetricUnit } from '../../services/model/metrics.ts'
import { METRIC_NAMESPACE } from '../../services/adapters/storage/json-log.ts'

/** A metric that the functions write: the five-minute p95 of durations, the sum of everything else. */
export type MetricsOf = (
  name: MetricName,
  options?: { readonly statistic?: string; readonly tier?: string; readonly periodMinutes?: number },
) => Metric

const UNITS: Record<MetricUnit, Unit> = {
  Milliseconds: Unit.MILLISECONDS,
  Seconds: Unit.SECONDS,
  Count: Unit.COUNT,
  None: Unit.NONE,
}

/** Refers to the metrics that the functions of a stage embed in their logs; CloudWatch creates them from the log lines. */
export const metricsOf =
  (stage: string): MetricsOf =>
  (name, { statistic, tier, periodMinutes = 5 } = {}) => {
    const { unit } = definitionOf(name)
    return new Metric({
      namespace: METRIC_NAMESPACE,
      metricName: name,
      dimensionsMap: { stage, ...(tier === undefined ? {} : { tier }) },
      statistic: statistic ?? (unit === 'Milliseconds' ? Stats.percentile(95) : Stats.SUM),
      unit: UNITS[unit],
      period: Duration.minutes(periodMinutes),
      ...(tier === undefined ? {} : { label: `${name} ${tier}` }),
    })
  }
