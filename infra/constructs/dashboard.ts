import { Duration } from 'aws-cdk-lib'
import { Dashboard, GraphWidget, PeriodOverride, Stats, TextWidget, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import type { MemoryTier } from '../../services/core/limits.ts'
import type { QueueName } from '../../services/core/messages.ts'
import type { ServiceFunctions } from '../stacks/service-stack.ts'
import type { JobQueue } from './job-queue.ts'
import type { MetricsOf } from './metrics.ts'

export interface DashboardProps {
  readonly stage: string
  readonly queues: Readonly<Record<QueueName, JobQueue>>
  readonly functions: ServiceFunctions
  readonly metric: MetricsOf
  /** Tiers with a warm pool. */
  readonly pools: readonly MemoryTier[]
}

/** One page in the order of a job: latency, waiting time, sandbox starts and cost, failures. */
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
          markdown: `# Cellblock ${stage}\nLatency, waiting time, sandbox starts and cost, failures. docs/operations.md says what to do.`,
          width: 24,
          height: 2,
        }),
      ],
      [
        graph('API: duration p95; requests and failures', [metric('ApiDuration')], [metric('ApiRequests'), metric('ApiFailed')]),
        graph('Executions: queue wait, claim, kernel, total, p95', [
          metric('QueueWait'),
          metric('Claim'),
          metric('RunTime'),
          metric('ExecutionTime'),
        ]),
        graph('Executions: ended, platform failures', [metric('Executions')], [metric('ExecutionFailed')]),
      ],
      [
        graph(
          'Sandboxes: start p95; cold and failed starts',
          [metric('SandboxStart')],
          [metric('ColdStart'), metric('SandboxStartFailed')],
        ),
        graph('Warm pool: minimum ready; missing', ofPools('PoolReady'), ofPools('PoolMissing')),
        graph('Ended sandboxes: cost at list price, dollars; seconds', [metric('SandboxCost')], [metric('SandboxSeconds')]),
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
          'Dead-letter queues',
          ofQueues(({ deadLetterQueue }) => deadLetterQueue.metricApproximateNumberOfMessagesVisible(minute)),
          ofQueues(({ deadLetterQueue }) => deadLetterQueue.metricNumberOfMessagesReceived(minute)),
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
