import { CfnCondition, Duration, Fn, Stack } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import {
  Alarm,
  type CfnAlarm,
  ComparisonOperator,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
  type IMetric,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { HttpCodeElb } from 'aws-cdk-lib/aws-elasticloadbalancingv2'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { MemoryTier } from '../../services/model/limits.ts'
import type { QueueName } from '../../services/model/messages.ts'
import type { ServiceFunctions } from '../function-name.ts'
import type { JobQueue } from './job-queue.ts'
import type { MetricsOf } from './metrics.ts'
import type { PrivateIngress } from './private-ingress.ts'
import { vcpuQuotaUse, type FargateCapacity } from './vcpu-quota-use.ts'

export interface AlarmsProps {
  readonly topic: ITopic
  readonly queues: Readonly<Record<QueueName, JobQueue>>
  readonly functions: ServiceFunctions
  readonly metric: MetricsOf
  readonly table: Pick<ITable, 'tableName'>
  /** Tiers with a warm pool. Without a pool every first execution waits for a cold start, by choice. */
  readonly pools: readonly MemoryTier[]
  /** Tasks of the upload service that answer; null without the service. */
  readonly healthyUploads: IMetric | null
  /** Tasks of the network gateway; null without it. */
  readonly gatewayTasks: IMetric | null
  /** Null without a distribution. */
  readonly distribution: Pick<Distribution, 'distributionId'> | null
  /** Null without a private ingress. */
  readonly privateIngress: Pick<PrivateIngress, 'loadBalancer' | 'targets'> | null
  readonly capacities: readonly FargateCapacity[]
}

const FIVE_MINUTES = { period: Duration.minutes(5) }
/** Age of the oldest message above which workers fall behind, seconds. */
const OLD_MESSAGE_SECONDS: Record<QueueName, number> = { turns: 120, executions: 120, placements: 300 }

/** 80 % of Lambda's default concurrency of an account and Region. */
const BUSY_FUNCTIONS = 800
/** Age of a dead letter, seconds: the reconciler ends its job within a minute. */
const OLD_DEAD_LETTER_SECONDS = 900
/** Throttled calls in five minutes. A burst causes them for some minutes; sustained demand above the quota continues to. */
const THROTTLED_CALLS = 100
const BUSY_QUOTA_PERCENT = 80

/** One alarm per condition that needs an operator. Each description says what happened and where to look. */
export class Alarms extends Construct {
  private readonly topic: ITopic

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id)
    const { functions, metric, distribution, privateIngress } = props
    this.topic = props.topic
    for (const [name, queue] of Object.entries(props.queues)) this.queueAlarms(name as QueueName, queue)
    for (const [name, worker] of Object.entries(functions)) {
      this.alarm(`${name}-errors`, worker.metricErrors(FIVE_MINUTES), {
        threshold: 5,
        periods: 2,
        sentence: `The ${name} function fails repeatedly. Its log has the reason.`,
      })
    }
    // The reconciler receives each dead letter within a minute. If it does not, `dead-letters-old` and `reconciler-silent` report it.
    this.alarm('jobs-dead', metric('DeadLetter'), {
      threshold: 1,
      periods: 1,
      sentence: 'A message failed five times. Its job ended as dead_letter; the event dead_letter in the log of the reconciler names both.',
    })
    this.oldDeadLetterAlarm(props.queues)
    this.concurrencyAlarms()
    this.tableAlarm(props.table)
    this.alarm('api-failures', metric('ApiFailed'), {
      threshold: 5,
      periods: 2,
      sentence: 'The API answers with 5xx. Its log has the request ids.',
    })
    this.startAlarms(props)
    this.executionAlarm(metric)
    this.poolAlarms(props)
    this.alarm('reconciler-silent', functions.reconciler.metricInvocations(FIVE_MINUTES), {
      threshold: 1,
      periods: 2,
      sentence: 'The reconciler does not run, so no job is repaired. Check its schedule rule and its errors.',
      below: true,
    })
    this.taskAlarms(props)
    if (distribution !== null) this.distributionAlarm(distribution)
    if (privateIngress !== null) this.privateIngressAlarms(privateIngress)
  }

  private queueAlarms(name: QueueName, { queue }: JobQueue): void {
    const oldest = queue.metricApproximateAgeOfOldestMessage({ ...FIVE_MINUTES, statistic: 'Maximum' })
    this.alarm(`${name}-old`, oldest, {
      threshold: OLD_MESSAGE_SECONDS[name],
      periods: 2,
      sentence: `Messages of ${name} wait too long. Check the throttles of its function and its concurrency setting.`,
    })
  }

  private oldDeadLetterAlarm(queues: AlarmsProps['queues']): void {
    this.alarm(
      'dead-letters-old',
      new MathExpression({
        ...FIVE_MINUTES,
        expression: 'MAX(METRICS())',
        usingMetrics: Object.fromEntries(
          Object.entries(queues).map(([name, { deadLetterQueue }]) => [
            name,
            deadLetterQueue.metricApproximateAgeOfOldestMessage({ ...FIVE_MINUTES, statistic: 'Maximum' }),
          ]),
        ),
      }),
      {
        threshold: OLD_DEAD_LETTER_SECONDS,
        periods: 1,
        sentence: 'A dead letter is older than 15 minutes, so its job has not ended. Check the errors of the reconciler.',
      },
    )
  }

  private concurrencyAlarms(): void {
    // One metric for all functions of the account and Region, because they share one concurrency.
    this.alarm('throttles', new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', ...FIVE_MINUTES, statistic: Stats.SUM }), {
      threshold: 10,
      periods: 2,
      sentence: 'Lambda throttles the functions: the account has too little concurrency. Request more in Service Quotas.',
    })
    this.alarm(
      'concurrency',
      new Metric({ namespace: 'AWS/Lambda', metricName: 'ConcurrentExecutions', ...FIVE_MINUTES, statistic: Stats.MAXIMUM }),
      {
        threshold: BUSY_FUNCTIONS,
        periods: 2,
        sentence:
          'The functions of the account use 80 % of the default concurrency of 1,000. Request more in Service Quotas before Lambda throttles.',
      },
    )
  }

  private tableAlarm(table: AlarmsProps['table']): void {
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
      { threshold: 100, periods: 2, sentence: 'DynamoDB throttles the table. Check its quota and the tenant whose rows are written most.' },
    )
  }

  private startAlarms({ metric, capacities }: Pick<AlarmsProps, 'metric' | 'capacities'>): void {
    this.alarm('starts-failing', metric('SandboxStartFailed'), {
      threshold: 3,
      periods: 2,
      sentence: 'Sandboxes do not start. The log of place names the reason: capacity, quota, image or a failed isolation check.',
    })
    this.alarm('sandboxes-refused', metric('SandboxRefused'), {
      threshold: 1,
      periods: 1,
      sentence:
        'A sandbox failed an isolation check. The field `check` of the event sandbox_refused in the log of run, place or reconciler names it.',
    })
    this.alarm('platform-throttled', metric('PlatformThrottled'), {
      threshold: THROTTLED_CALLS,
      periods: 3,
      sentence:
        'ECS has throttled starts or stops for 15 minutes: more containers arrive than the account may start. Use a larger quota or another cell.',
    })
    this.alarm('quota-used', vcpuQuotaUse(capacities), {
      threshold: BUSY_QUOTA_PERCENT,
      periods: 2,
      sentence: 'The tasks of the account use 80 % of a Fargate vCPU quota. Request more in Service Quotas before starts fail.',
    })
  }

  private executionAlarm(metric: MetricsOf): void {
    this.alarm(
      'executions-failing',
      new MathExpression({
        ...FIVE_MINUTES,
        // A rate over few executions means little: at least five must have failed.
        expression: 'IF(failed >= 5, 100 * failed / ended, 0)',
        usingMetrics: { failed: metric('ExecutionFailed'), ended: metric('Executions') },
        label: 'percent',
      }),
      {
        threshold: 5,
        periods: 2,
        sentence:
          'More than 5 % of executions failed because of the platform: a lost sandbox or exhausted retries. The logs of run and place name the reason.',
      },
    )
  }

  private poolAlarms({ pools, metric }: Pick<AlarmsProps, 'pools' | 'metric'>): void {
    for (const tier of pools)
      this.alarm(`pool-${tier}-empty`, metric('PoolReady', { tier, statistic: Stats.MAXIMUM }), {
        threshold: 1,
        periods: 3,
        sentence: `No warm ${tier} sandbox for 15 minutes: first executions wait for cold starts. The pool is too small, or starts fail.`,
        below: true,
      })
    if (pools.length > 0)
      this.alarm('cold-starts', metric('ColdStart'), {
        threshold: 5,
        periods: 3,
        sentence: 'Executions wait for cold starts: the warm pool is too small for the arrivals.',
      })
  }

  private taskAlarms({ healthyUploads, gatewayTasks }: Pick<AlarmsProps, 'healthyUploads' | 'gatewayTasks'>): void {
    const down = (name: string, tasks: IMetric | null, effect: string): void => {
      const sentence = `${effect} Its log group and the events of its ECS service name the reason.`
      if (tasks !== null) this.alarm(name, tasks, { threshold: 1, periods: 3, sentence, below: true })
    }
    down('uploads-down', healthyUploads, 'No task of the upload service answers: request bodies above 4.4 MB fail.')
    down('network-gateway-down', gatewayTasks, 'The network gateway does not run: code in containers with a policy fails.')
  }

  private privateIngressAlarms({ loadBalancer, targets }: NonNullable<AlarmsProps['privateIngress']>): void {
    this.alarm('api-down', targets.metrics.healthyHostCount({ ...FIVE_MINUTES, statistic: Stats.MINIMUM }), {
      threshold: 1,
      periods: 2,
      sentence: 'No task of the API answers its load balancer. Its log group and the events of its ECS service name the reason.',
      below: true,
    })
    this.alarm(
      'load-balancer-failures',
      loadBalancer.metrics.httpCodeElb(HttpCodeElb.ELB_5XX_COUNT, { ...FIVE_MINUTES, statistic: Stats.SUM }),
      {
        threshold: 5,
        periods: 2,
        sentence: 'The load balancer of the API answers with 5xx itself: tasks are missing, end connections, or stay silent. See api-down.',
      },
    )
  }

  /** CloudFront writes its metrics in us-east-1, and an alarm reads its own Region only: elsewhere CloudFormation leaves this alarm out. */
  private distributionAlarm({ distributionId }: NonNullable<AlarmsProps['distribution']>): void {
    const errors = new Metric({
      namespace: 'AWS/CloudFront',
      metricName: '5xxErrorRate',
      dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
      ...FIVE_MINUTES,
      statistic: Stats.AVERAGE,
    })
    const alarm = this.alarm('distribution-failures', errors, {
      threshold: 5,
      periods: 2,
      sentence:
        'More than 5 % of the answers of the distribution are 5xx, time-outs (504) included. Compare with the API: failures there have request ids.',
    })
    const isGlobalRegion = new CfnCondition(this, 'IsUsEast1', { expression: Fn.conditionEquals(Stack.of(this).region, 'us-east-1') })
    const resource = alarm.node.defaultChild as CfnAlarm
    resource.cfnOptions.condition = isGlobalRegion
  }

  private alarm(
    name: string,
    metric: IMetric,
    {
      threshold,
      periods,
      sentence,
      below = false,
    }: { readonly threshold: number; readonly periods: number; readonly sentence: string; readonly below?: boolean },
  ): Alarm {
    const options = {
      alarmDescription: sentence,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: below ? ComparisonOperator.LESS_THAN_THRESHOLD : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: below ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    }
    const alarm = new Alarm(this, name, { ...options, metric })
    alarm.addAlarmAction(new SnsAction(this.topic))
    return alarm
  }
}
