import { Dashboard, GraphWidget, PeriodOverride, TextWidget, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Duration } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { QueueName } from '../../services/core/messages.ts'
import type { FunctionId } from '../function-name.ts'
import type { JobQueue } from './job-queue.ts'
import type { LogMetricName } from './log-metrics.ts'

export interface DashboardProps {
  readonly stage: string
  readonly queues: Readonly<Record<QueueName, JobQueue>>
  readonly functions: Readonly<Record<FunctionId, IFunction>>
  readonly logMetrics: Readonly<Record<LogMetricName, IMetric>>
}

/** One page, in the order of a job: what callers feel, what waits, what starts, what fails. */
export function createDashboard(scope: Construct, { stage, queues, functions, logMetrics }: DashboardProps): Dashboard {
  const minute = { period: Duration.minutes(1) }
  const ofQueues = (metric: (queue: JobQueue) => IMetric) => Object.values(queues).map(metric)
  const ofFunctions = (metric: (worker: IFunction) => IMetric) => Object.values(functions).map(metric)
  const graph = (title: string, left: IMetric[], right: IMetric[] = []) => new GraphWidget({ title, left, right, width: 8, height: 6 })
  return new Dashboard(scope, 'Dashboard', {
    dashboardName: `cellblock-${stage}`,
    periodOverride: PeriodOverride.INHERIT,
    widgets: [
      [new TextWidget({ markdown: `# Cellblock ${stage}\nWhat callers feel, what waits, what starts, what fails.`, width: 24, height: 2 })],
      [
        graph('API: duration p95 and failures', [logMetrics.ApiDuration], [logMetrics.ApiFailed]),
        graph('Executions: wait and whole, p95', [logMetrics.QueueWait, logMetrics.ExecutionTime]),
        graph(
          'Sandboxes: start p95, cold starts, failed starts',
          [logMetrics.SandboxStart],
          [logMetrics.ColdStart, logMetrics.SandboxStartFailed],
        ),
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
