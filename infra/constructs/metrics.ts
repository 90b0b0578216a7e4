import { Duration } from 'aws-cdk-lib'
import { Metric, Stats, Unit } from 'aws-cdk-lib/aws-cloudwatch'
import { definitionOf, type MetricName, type MetricUnit } from '../../services/core/metrics.ts'
import { METRIC_NAMESPACE } from '../../services/storage/json-log.ts'

/** A metric of the service as the functions write it: five-minute 95th percentiles of times, sums of all else. */
export type MetricsOf = (name: MetricName, options?: { readonly statistic?: string; readonly tier?: string }) => Metric

const UNITS: Record<MetricUnit, Unit> = {
  Milliseconds: Unit.MILLISECONDS,
  Seconds: Unit.SECONDS,
  Count: Unit.COUNT,
  None: Unit.NONE,
}

/** Reads the metrics that the functions of a stage embed in their logs. Nothing is made here: CloudWatch makes them as lines arrive. */
export const metricsOf =
  (stage: string): MetricsOf =>
  (name, { statistic, tier } = {}) => {
    const { unit } = definitionOf(name)
    return new Metric({
      namespace: METRIC_NAMESPACE,
      metricName: name,
      dimensionsMap: { stage, ...(tier === undefined ? {} : { tier }) },
      statistic: statistic ?? (unit === 'Milliseconds' ? Stats.percentile(95) : Stats.SUM),
      unit: UNITS[unit],
      period: Duration.minutes(5),
      ...(tier === undefined ? {} : { label: `${name} ${tier}` }),
    })
  }
