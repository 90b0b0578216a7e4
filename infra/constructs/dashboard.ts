import { Duration } from 'aws-cdk-lib'
import { Dashboard, GraphWidget, PeriodOverride, Stats, TextWidget, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import type { MemoryTier } from '../../services/core/limits.ts'
import type { QueueName } from '../../services/core/messages.ts'
import type { FunctionId } from '../function-name.ts'
import type { JobQueue } from './job-queue.ts'
import type { MetricsOf } from './metrics.ts'

export interface DashboardProps {
  readonly stage: string
  readonly queues: Readonly<Record<QueueName, JobQueue>>
  readonly functions: Readonly<Record<FunctionId, IFunction>>
  readonly metric: MetricsOf
  /** Tiers with a warm pool. */
  readonly pools: readonly MemoryTier[]
}

/** One page, in the order of a job: what callers feel, what it waits for, what starts and costs, what fails. */
export function createDashboard(scope: Construct, { stage, queues, functions, metric, pools }: DashboardProps): Dashboard {
  const minute = { period: Duration.minutes(1) }
  const ofQueues = (read: (queue: JobQueue) => IMetric) => Object.values(queues).map(read)
  const ofFunctions = (read: (worker: IFunction) => IMetric) => Object.values(functions).map(read)
  const graph = (title: string, left: IMetric[], right: IMetric[] = []) => new GraphWidget({ title, left, right, width: 8, height: 6 })
  const ofPools = (name: 'PoolReady' | 'PoolMissing') => pools.map((tier) => metric(name, { tier, statistic: Stats.MINIMUM }))
  return new Dashboard(scope, 'Dashboard', {
    dashboardName: `cellblock-${stage}`,
    periodOverride: PeriodOverride.INHERIT,
    widgets: [
      [
        new TextWidget({
          markdown: `# Cellblock ${stage}\nWhat callers feel, what a job waits for, what starts and what it costs, what fails. What to do is in docs/operations.md.`,
          width: 24,
          height: 2,
        }),
      ],
      [
        graph('API: duration p95; requests and failures', [metric('ApiDuration')], [metric('ApiRequests'), metric('ApiFailed')]),
        graph('Executions: wait, claim, kernel, whole, p95', [
          metric('QueueWait'),
          metric('Claim'),
          metric('RunTime'),
          metric('ExecutionTime'),
        ]),
        graph('Executions: ended, failed by the platform', [metric('Executions')], [metric('ExecutionFailed')]),
      ],
      [
        graph(
          'Sandboxes: start p95; cold and failed starts',
          [metric('SandboxStart')],
          [metric('ColdStart'), metric('SandboxStartFailed')],
        ),
        graph('Warm pool: least that waited; short of', ofPools('PoolReady'), ofPools('PoolMissing')),
        graph('Sandboxes that ended: list price in dollars; seconds', [metric('SandboxCost')], [metric('SandboxSeconds')]),
      ],
      [
        graph(
          'Oldest message, seconds',
          ofQueues(({ queue }) => queue.metricApproximateAgeOfOldestMessage(minute)),
        ),
        graph(
          'Messages waiting',
          ofQueues(({ queue }) => queue.metricApproximateNumberOfMessagesVisible(minute)),
        ),
        graph(
          'Dead letters',
          ofQueues(({ dead }) => dead.metricApproximateNumberOfMessagesVisible(minute)),
          ofQueues(({ dead }) => dead.metricNumberOfMessagesReceived(minute)),
        ),
      ],
      [
        graph(
          'Functions: errors',
          ofFunctions((worker) => worker.metricErrors(minute)),
        ),
        graph(
          'Functions: throttles',
          ofFunctions((worker) => worker.metricThrottles(minute)),
        ),
        graph(
          'Functions: duration',
          ofFunctions((worker) => worker.metricDuration(minute)),
        ),
      ],
    ],
  })
}
