import { Duration } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, MathExpression, Stats, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { MemoryTier } from '../../services/core/limits.ts'
import type { QueueName } from '../../services/core/messages.ts'
import type { FunctionId } from '../function-name.ts'
import type { JobQueue } from './job-queue.ts'
import type { MetricsOf } from './metrics.ts'

export interface AlarmsProps {
  readonly topic: ITopic
  readonly queues: Readonly<Record<QueueName, JobQueue>>
  readonly functions: Readonly<Record<FunctionId, IFunction>>
  readonly metric: MetricsOf
  /** Tiers with a warm pool: without one every first execution waits, as agreed. */
  readonly pools: readonly MemoryTier[]
}

const FIVE_MINUTES = { period: Duration.minutes(5) }
/** A message this old waits longer than any worker needs to get to it, seconds. */
const OLD_MESSAGE_SECONDS: Record<QueueName, number> = { turns: 120, executions: 120, placements: 300 }

/** What somebody must look at. Each says in one sentence what happened and where to look. */
export class Alarms extends Construct {
  private readonly topic: ITopic

  constructor(scope: Construct, id: string, { topic, queues, functions, metric, pools }: AlarmsProps) {
    super(scope, id)
    this.topic = topic
    for (const [name, { queue, dead }] of Object.entries(queues)) {
      const arrived = {
        waiting: dead.metricApproximateNumberOfMessagesVisible({ ...FIVE_MINUTES, statistic: 'Maximum' }),
        taken: dead.metricNumberOfMessagesReceived({ ...FIVE_MINUTES, statistic: 'Sum' }),
      }
      this.when(
        `${name}-dead`,
        new MathExpression({ ...FIVE_MINUTES, expression: 'FILL(waiting, 0) + FILL(taken, 0)', usingMetrics: arrived }),
        1,
        1,
        `A message of ${name} failed five times. Its job ended as dead_letter; the log of the reconciler names it.`,
      )
      const oldest = queue.metricApproximateAgeOfOldestMessage({ ...FIVE_MINUTES, statistic: 'Maximum' })
      this.when(
        `${name}-old`,
        oldest,
        OLD_MESSAGE_SECONDS[name as QueueName],
        2,
        `Messages of ${name} wait too long. Look at throttles of its function and at the concurrency limit.`,
      )
    }
    for (const [name, worker] of Object.entries(functions)) {
      this.when(`${name}-errors`, worker.metricErrors(FIVE_MINUTES), 5, 2, `The ${name} function keeps failing. Its log says why.`)
    }
    const throttles = new MathExpression({
      ...FIVE_MINUTES,
      expression: 'SUM(METRICS())',
      usingMetrics: Object.fromEntries(Object.entries(functions).map(([name, worker]) => [name, worker.metricThrottles(FIVE_MINUTES)])),
    })
    this.when(
      'throttles',
      throttles,
      10,
      2,
      'Lambda refuses to start functions: the account has too little concurrency. Ask for more in Service Quotas.',
    )
    this.when('api-failures', metric('ApiFailed'), 5, 2, 'The API answers with 5xx. Its log has the request ids.')
    this.when(
      'starts-failing',
      metric('SandboxStartFailed'),
      3,
      2,
      'Sandboxes do not start. The log of place says whether it is capacity, quota, the image or a wall that did not hold.',
    )
    this.when(
      'executions-failing',
      new MathExpression({
        ...FIVE_MINUTES,
        // Few executions make a rate of nothing: at least five must have failed.
        expression: 'IF(failed >= 5, 100 * failed / ended, 0)',
        usingMetrics: { failed: metric('ExecutionFailed'), ended: metric('Executions') },
        label: 'percent',
      }),
      5,
      2,
      'The platform fails executions: more than one in twenty lost its sandbox or every try. The logs of run and place say which.',
    )
    for (const tier of pools)
      this.when(
        `pool-${tier}-empty`,
        metric('PoolReady', { tier, statistic: Stats.MAXIMUM }),
        1,
        3,
        `No warm ${tier} sandbox for a quarter of an hour: first executions wait for cold starts. The pool is too small, or starts fail.`,
        { below: true },
      )
    if (pools.length > 0)
      this.when('cold-starts', metric('ColdStart'), 5, 3, 'Executions wait for cold starts: the warm pool is too small for the arrivals.')
    this.when(
      'reconciler-silent',
      functions.reconciler.metricInvocations(FIVE_MINUTES),
      1,
      2,
      'The reconciler does not run, so nothing is repaired. Look at its schedule and its errors.',
      { below: true },
    )
  }

  private when(name: string, metric: IMetric, threshold: number, periods: number, sentence: string, { below = false } = {}): void {
    const options = {
      alarmDescription: sentence,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: below ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    }
    new Alarm(this, name, { ...options, metric }).addAlarmAction(new SnsAction(this.topic))
  }
}
