import { METRIC_NAMES } from '../../../services/model/metrics.ts'
import { METRIC_NAMESPACE } from '../../../services/adapters/storage/json-log.ts'
import { all, at, first, list, named, only, same, says, set, statements, value, type Property } from '../property.ts'
import type { Resource, Templates } from '../synthesise.ts'

/** Those that call an operator. CodeDeploy reads the alarms of the service stack. */
const alarms = (t: Templates): Resource[] => all(t, 'AWS::CloudWatch::Alarm', 'operations')
const alarm = (t: Templates, name: string): Resource => named(t, 'operations', `When${name}`, 'AWS::CloudWatch::Alarm')
const topicPolicy = (t: Templates): Resource => only(t, 'AWS::SNS::TopicPolicy')
const exists = (title: string, names: string[], what: string): Property => ({
  title,
  holds: (t) =>
    names.every(
      (name) => Object.keys(t.operations.Resources).some((id) => id.startsWith(`When${name}`)) && says(alarm(t, name).Properties, what),
    ),
  break: (t) =>
    void delete t.operations.Resources[first(Object.keys(t.operations.Resources).filter((id) => id.startsWith(`When${first(names)}`)))],
})

const SHOWN = ['QueueWait', 'Claim', 'RunTime', 'PoolReady', 'ColdStart', 'SandboxCost', 'ApiFailed', 'ExecutionFailed', 'SandboxStart']
const isMetric = (value: unknown): value is { Namespace: string; MetricName: string; Dimensions: { Name: string; Value: string }[] } =>
  at(value, 'Namespace') === METRIC_NAMESPACE
/** Those of the service's own metrics that an alarm reads, alone or in an expression. */
const ourMetrics = (resource: Resource): { name: string; stage: string | undefined }[] =>
  [resource.Properties, ...list(at(resource, 'Properties.Metrics')).map((metric) => at(metric, 'MetricStat.Metric'))]
    .filter(isMetric)
    .map((metric) => ({ name: metric.MetricName, stage: metric.Dimensions.find(({ Name }) => Name === 'stage')?.Value }))

export const operationsProperties: readonly Property[] = [
  exists('dead letters raise an alarm', ['jobsdead'], 'DeadLetter'),
  exists(
    'messages of each queue that wait too long raise an alarm',
    ['turnsold', 'executionsold', 'placementsold'],
    'ApproximateAgeOfOldestMessage',
  ),
  exists('failing functions raise an alarm', ['apierrors', 'chaterrors', 'runerrors', 'placeerrors', 'reconcilererrors'], 'Errors'),
  exists('an empty pool of each tier raises an alarm', ['pool1gempty', 'pool4gempty'], 'PoolReady'),
  {
    title: 'a pool without metrics raises the alarm too',
    holds: (t) => alarm(t, 'pool1gempty').Properties.TreatMissingData === 'breaching',
    break: (t) => set(alarm(t, 'pool1gempty'), 'Properties.TreatMissingData', 'notBreaching'),
  },
  exists('many cold starts raise an alarm', ['coldstarts'], 'ColdStart'),
  exists('executions that the platform fails raise an alarm by their rate', ['executionsfailing'], 'ExecutionFailed'),
  {
    title: 'every service metric on an alarm is one that the functions write, with the dimension of this stage',
    holds: (t) => {
      const read = alarms(t).flatMap(ourMetrics)
      return read.length >= 6 && read.every(({ name, stage }) => METRIC_NAMES.some((known) => known === name) && stage === 'prod')
    },
    break: (t) => set(alarm(t, 'coldstarts'), 'Properties.MetricName', 'ColdStarts'),
  },
  {
    title: 'the dashboard shows every metric that an operator steers by',
    holds: (t) => SHOWN.every((name) => says(only(t, 'AWS::CloudWatch::Dashboard').Properties, name)),
    break: (t) => {
      const board = only(t, 'AWS::CloudWatch::Dashboard')
      board.Properties = JSON.parse(JSON.stringify(board.Properties).replaceAll('QueueWait', 'Waited')) as typeof board.Properties
    },
  },
  exists('a sandbox that fails an isolation check raises an alarm', ['sandboxesrefused'], 'SandboxRefused'),
  exists('functions near the default concurrency raise an alarm', ['concurrency'], 'ConcurrentExecutions'),
  exists('throttled functions raise an alarm', ['throttles'], 'Throttles'),
  exists('throttles of the table raise an alarm', ['tablethrottles'], 'WriteThrottleEvents'),
  exists('dead letters that the reconciler does not end raise an alarm', ['deadlettersold'], 'MAX(METRICS())'),
  exists('starts that ECS throttles raise an alarm', ['platformthrottled'], 'PlatformThrottled'),
  exists('tasks near the vCPU quota raise an alarm', ['quotaused'], 'SERVICE_QUOTA(ondemand)'),
  exists('failing starts raise an alarm', ['startsfailing'], 'SandboxStartFailed'),
  exists('answers with 5xx raise an alarm', ['apifailures'], 'ApiFailed'),
  {
    title: 'silence of the reconciler raises an alarm',
    holds: (t) => alarm(t, 'reconcilersilent').Properties.TreatMissingData === 'breaching',
    break: (t) => set(alarm(t, 'reconcilersilent'), 'Properties.TreatMissingData', 'notBreaching'),
  },
  {
    title: 'every alarm notifies the topic and says what to do',
    holds: (t) =>
      alarms(t).length > 10 &&
      alarms(t).every((a) => list(a.Properties.AlarmActions).length === 1 && String(a.Properties.AlarmDescription).endsWith('.')),
    break: (t) => set(first(alarms(t)), 'Properties.AlarmActions', []),
  },
  {
    title: 'only AWS services of this account write to the alarm topic, over TLS',
    holds: (t) => {
      const document = statements(at(topicPolicy(t), 'Properties.PolicyDocument'))
      return (
        document.some((s) => s.Effect === 'Deny' && says(s.Condition, 'aws:SecureTransport')) &&
        document
          .filter((s) => s.Effect === 'Allow' && says(s.Principal, 'cloudwatch'))
          .every((s) => says(s.Condition, 'aws:SourceAccount')) &&
        !document.some((s) => s.Effect === 'Allow' && says(s.Principal, '"*"'))
      )
    },
    break: (t) =>
      void statements(at(topicPolicy(t), 'Properties.PolicyDocument')).push({
        Effect: 'Allow',
        Principal: { AWS: '*' },
        Action: 'sns:Publish',
        Resource: '*',
      }),
  },
  {
    title: 'a name that may not be asked for raises an alarm',
    holds: (t) =>
      says(only(t, 'AWS::Events::Rule', 'operations').Properties.EventPattern, 'DNS Firewall Block') &&
      says(only(t, 'AWS::Events::Rule', 'operations').Properties.Targets, 'Alarms'),
    break: (t) => set(only(t, 'AWS::Events::Rule', 'operations'), 'Properties.EventPattern', { source: ['aws.route53resolver'] }),
  },
  value(
    'money has a limit that is watched',
    (t) => only(t, 'AWS::Budgets::Budget'),
    'Properties.Budget.BudgetLimit',
    { Amount: 100, Unit: 'USD' },
    undefined,
  ),
  {
    title: 'the budget notifies at 80 percent and when the forecast exceeds it',
    holds: (t) =>
      same(
        list(only(t, 'AWS::Budgets::Budget').Properties.NotificationsWithSubscribers).map((n) => at(n, 'Notification.Threshold')),
        [80, 100],
      ),
    break: (t) => set(only(t, 'AWS::Budgets::Budget'), 'Properties.NotificationsWithSubscribers', []),
  },
  {
    title: 'there is one dashboard',
    holds: (t) => all(t, 'AWS::CloudWatch::Dashboard').length === 1,
    break: (t) => void (t.operations.Resources.Another = structuredClone(only(t, 'AWS::CloudWatch::Dashboard'))),
  },
]
