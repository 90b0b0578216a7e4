import { Duration } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, MathExpression, Metric, Stats, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
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
  readonly table: Pick<ITable, 'tableName'>
  /** Tiers with a warm pool. Without a pool every first execution waits for a cold start, by choice. */
  readonly pools: readonly MemoryTier[]
}

const FIVE_MINUTES = { period: Duration.minutes(5) }
/** Age of the oldest message above which workers fall behind, seconds. */
const OLD_MESSAGE_SECONDS: Record<QueueName, number> = { turns: 120, executions: 120, placements: 300 }

/** 80 % of Lambda's default concurrency of an account and Region. */
const BUSY_FUNCTIONS = 800

/** One alarm per condition that needs an operator. Each description says what happened and where to look. */
export class Alarms extends Construct {
  private readonly topic: ITopic

  constructor(scope: Construct, id: string, { topic, queues, functions, metric, table, pools }: AlarmsProps) {
    super(scope, id)
    this.topic = topic
    for (const [name, { queue, deadLetterQueue }] of Object.entries(queues)) {
      const deadLetters = {
        visible: deadLetterQueue.metricApproximateNumberOfMessagesVisible({ ...FIVE_MINUTES, statistic: 'Maximum' }),
        received: deadLetterQueue.metricNumberOfMessagesReceived({ ...FIVE_MINUTES, statistic: 'Sum' }),
      }
      this.alarm(
        `${name}-dead`,
        new MathExpression({ ...FIVE_MINUTES, expression: 'FILL(visible, 0) + FILL(received, 0)', usingMetrics: deadLetters }),
        1,
        1,
        `A message of ${name} failed five times. Its job ended as dead_letter; the log of the reconciler names it.`,
      )
      const oldest = queue.metricApproximateAgeOfOldestMessage({ ...FIVE_MINUTES, statistic: 'Maximum' })
      this.alarm(
        `${name}-old`,
        oldest,
        OLD_MESSAGE_SECONDS[name as QueueName],
        2,
        `Messages of ${name} wait too long. Check the throttles of its function and its concurrency setting.`,
      )
    }
    for (const [name, worker] of Object.entries(functions)) {
      this.alarm(
        `${name}-errors`,
        worker.metricErrors(FIVE_MINUTES),
        5,
        2,
        `The ${name} function fails repeatedly. Its log has the reason.`,
      )
    }
    const throttles = new MathExpression({
      ...FIVE_MINUTES,
      expression: 'SUM(METRICS())',
      usingMetrics: Object.fromEntries(Object.entries(functions).map(([name, worker]) => [name, worker.metricThrottles(FIVE_MINUTES)])),
    })
    this.alarm(
      'throttles',
      throttles,
      10,
      2,
      'Lambda throttles the functions: the account has too little concurrency. Request more in Service Quotas.',
    )
    this.alarm(
      'concurrency',
      new Metric({ namespace: 'AWS/Lambda', metricName: 'ConcurrentExecutions', ...FIVE_MINUTES, statistic: Stats.MAXIMUM }),
      BUSY_FUNCTIONS,
      2,
      'The functions of the account use 80 % of the default concurrency of 1,000. Request more in Service Quotas before Lambda throttles.',
    )
    const throttled = (metricName: string): IMetric =>
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName,
        dimensionsMap: { TableName: table.tableName },
        ...FIVE_MINUTES,
        statistic: Stats.SUM,
      })
    this.alarm(
      'table-throttles',
      new MathExpression({
        ...FIVE_MINUTES,
        expression: 'FILL(reads, 0) + FILL(writes, 0)',
        usingMetrics: { reads: throttled('ReadThrottleEvents'), writes: throttled('WriteThrottleEvents') },
      }),
      100,
      2,
      'DynamoDB throttles the table. Check its quota and the tenant whose rows are written most.',
    )
    this.alarm('api-failures', metric('ApiFailed'), 5, 2, 'The API answers with 5xx. Its log has the request ids.')
    this.alarm(
      'starts-failing',
      metric('SandboxStartFailed'),
      3,
      2,
      'Sandboxes do not start. The log of place names the reason: capacity, quota, image or a failed isolation check.',
    )
    this.alarm(
      'sandboxes-refused',
      metric('SandboxRefused'),
      1,
      1,
      'A sandbox failed an isolation check and exited with code 86. The event sandbox_refused in the log of place or reconciler names it.',
    )
    this.alarm(
      'executions-failing',
      new MathExpression({
        ...FIVE_MINUTES,
        // A rate over few executions means little: at least five must have failed.
        expression: 'IF(failed >= 5, 100 * failed / ended, 0)',
        usingMetrics: { failed: metric('ExecutionFailed'), ended: metric('Executions') },
        label: 'percent',
      }),
      5,
      2,
      'More than 5 % of executions failed because of the platform: a lost sandbox or exhausted retries. The logs of run and place name the reason.',
    )
    for (const tier of pools)
      this.alarm(
        `pool-${tier}-empty`,
        metric('PoolReady', { tier, statistic: Stats.MAXIMUM }),
        1,
        3,
        `No warm ${tier} sandbox for 15 minutes: first executions wait for cold starts. The pool is too small, or starts fail.`,
        { below: true },
      )
    if (pools.length > 0)
      this.alarm('cold-starts', metric('ColdStart'), 5, 3, 'Executions wait for cold starts: the warm pool is too small for the arrivals.')
    this.alarm(
      'reconciler-silent',
      functions.reconciler.metricInvocations(FIVE_MINUTES),
      1,
      2,
      'The reconciler does not run, so no job is repaired. Check its schedule rule and its errors.',
      { below: true },
    )
  }

  private alarm(name: string, metric: IMetric, threshold: number, periods: number, sentence: string, { below = false } = {}): void {
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
