import { Duration } from 'aws-cdk-lib'
import { Dashboard, GraphWidget, PeriodOverride, Stats, TextWidget, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import type { MemoryTier } from '../../services/model/limits.ts'
import type { QueueName } from '../../services/model/messages.ts'
import type { ServiceFunctions } from '../function-name.ts'
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

type Row = IWidget[]

const MINUTE = { period: Duration.minutes(1) }

/** One page in the order of a job: latency, waiting time, sandbox starts and cost, failures. */
export const createDashboard = (scope: Construct, { stage, queues, functions, metric, pools }: DashboardProps): Dashboard =>
  new Dashboard(scope, 'Dashboard', {
    dashboardName: `cellblock-${stage}`,
    periodOverride: PeriodOverride.INHERIT,
    widgets: [title(stage), jobGraphs(metric), sandboxGraphs(metric, pools), queueGraphs(queues), functionGraphs(functions)],
  })

const graph = (title: string, left: IMetric[], right: IMetric[] = []) => new GraphWidget({ title, left, right, width: 8, height: 6 })

const title = (stage: string): Row => [
  new TextWidget({
    markdown: `# Cellblock ${stage}\nLatency, waiting time, sandbox starts and cost, failures. docs/operations.md says what to do.`,
    width: 24,
    height: 2,
  }),
]

const jobGraphs = (metric: MetricsOf): Row => [
  graph('API: duration p95; requests and failures', [metric('ApiDuration')], [metric('ApiRequests'), metric('ApiFailed')]),
  graph('Executions: queue wait, claim, kernel, total, p95', [
    metric('QueueWait'),
    metric('Claim'),
    metric('RunTime'),
    metric('ExecutionTime'),
  ]),
  graph('Executions: ended, platform failures', [metric('Executions')], [metric('ExecutionFailed')]),
]

function sandboxGraphs(metric: MetricsOf, pools: readonly MemoryTier[]): Row {
  const ofPools = (name: 'PoolReady' | 'PoolMissing') => pools.map((tier) => metric(name, { tier, statistic: Stats.MINIMUM }))
  return [
    graph('Sandboxes: start p95; cold and failed starts', [metric('SandboxStart')], [metric('ColdStart'), metric('SandboxStartFailed')]),
    graph('Warm pool: minimum ready; missing', ofPools('PoolReady'), ofPools('PoolMissing')),
    graph('Ended sandboxes: cost at list price, dollars; seconds', [metric('SandboxCost')], [metric('SandboxSeconds')]),
  ]
}

function queueGraphs(queues: DashboardProps['queues']): Row {
  const ofQueues = (read: (queue: JobQueue) => IMetric) => Object.values(queues).map(read)
  return [
    graph(
      'Oldest message, seconds',
      ofQueues(({ queue }) => queue.metricApproximateAgeOfOldestMessage(MINUTE)),
    ),
    graph(
      'Messages waiting',
      ofQueues(({ queue }) => queue.metricApproximateNumberOfMessagesVisible(MINUTE)),
    ),
    graph(
      'Dead-letter queues',
      ofQueues(({ deadLetterQueue }) => deadLetterQueue.metricApproximateNumberOfMessagesVisible(MINUTE)),
      ofQueues(({ deadLetterQueue }) => deadLetterQueue.metricNumberOfMessagesReceived(MINUTE)),
    ),
  ]
}

function functionGraphs(functions: ServiceFunctions): Row {
  const ofFunctions = (read: (worker: IFunction) => IMetric) => Object.values(functions).map(read)
  return [
    graph(
      'Functions: errors',
      ofFunctions((worker) => worker.metricErrors(MINUTE)),
    ),
    graph(
      'Functions: throttles',
      ofFunctions((worker) => worker.metricThrottles(MINUTE)),
    ),
    graph(
      'Functions: duration',
      ofFunctions((worker) => worker.metricDuration(MINUTE)),
    ),
  ]
}
