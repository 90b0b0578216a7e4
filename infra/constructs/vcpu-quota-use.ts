import { Duration } from 'aws-cdk-lib'
import { MathExpression, Metric, Stats, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'

/** Kinds of Fargate capacity, as AWS names them in its usage metrics. Each has its quota. */
export type FargateCapacity = 'OnDemand' | 'Spot'

const FIVE_MINUTES = { period: Duration.minutes(5) }

/** The larger share of the vCPU quotas of these capacities, percent. */
export function vcpuQuotaUse(capacities: readonly FargateCapacity[]): IMetric {
  const metrics = capacities.map((capacity) => {
    const dimensionsMap = { Service: 'Fargate', Type: 'Resource', Resource: 'vCPU', Class: `Standard/${capacity}` }
    return [
      capacity.toLowerCase(),
      new Metric({ namespace: 'AWS/Usage', metricName: 'ResourceCount', dimensionsMap, ...FIVE_MINUTES, statistic: Stats.MAXIMUM }),
    ] as const
  })
  const shares = metrics.map(([name]) => `100 * FILL(${name}, 0) / SERVICE_QUOTA(${name})`)
  return new MathExpression({
    ...FIVE_MINUTES,
    expression: shares.length === 1 ? (shares[0] ?? '') : `MAX([${shares.join(', ')}])`,
    usingMetrics: Object.fromEntries(metrics),
    label: 'percent',
  })
}
