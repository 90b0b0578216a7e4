import { Duration, type StackProps } from 'aws-cdk-lib'
import { Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import { MEMORY_TIERS } from '../../services/model/limits.ts'
import type { Config } from '../config.ts'
import { createAlarmTopic } from '../constructs/alarm-topic.ts'
import { Alarms } from '../constructs/alarms.ts'
import { createDashboard } from '../constructs/dashboard.ts'
import { createDnsBlockAlert } from '../constructs/dns-block-alert.ts'
import { runningTasks } from '../constructs/network-gateway.ts'
import { metricsOf } from '../constructs/metrics.ts'
import { createMonthlyBudget } from '../constructs/monthly-budget.ts'
import type { DataStack } from './data-stack.ts'
import type { GuardStack } from './guard-stack.ts'
import type { ServiceStack } from './service-stack.ts'
import { FlaggedStack } from './flagged-stack.ts'

export interface OperationsStackProps extends StackProps {
  readonly config: Config
  readonly data: DataStack
  readonly guard: GuardStack
  readonly service: ServiceStack
}

/** Dashboard, alarms and budget. */
export class OperationsStack extends FlaggedStack {
  constructor(scope: Construct, id: string, { config, data, guard, service, ...props }: OperationsStackProps) {
    super(scope, id, props)
    const { stage, operations, sandboxes } = config
    const { queues } = data
    const { functions } = service
    const topic = createAlarmTopic(this, stage, operations.alarmEmail)
    const metric = metricsOf(stage)
    const pools = MEMORY_TIERS.filter((tier) => (sandboxes.tiers[tier]?.warm ?? 0) > 0)
    new Alarms(this, 'When', {
      topic,
      queues,
      functions,
      metric,
      table: data.table,
      pools,
      healthyUploads: service.uploads?.targets.metrics.healthyHostCount({ period: Duration.minutes(5), statistic: Stats.MINIMUM }) ?? null,
      gatewayTasks: service.gateway === null ? null : runningTasks(service.gateway),
      distribution: service.distribution,
      privateIngress: service.privateIngress,
      capacities: [
        ...(sandboxes.spotPercent < 100 ? (['OnDemand'] as const) : []),
        ...(sandboxes.spotPercent > 0 ? (['Spot'] as const) : []),
      ],
    })
    createDashboard(this, { stage, queues, functions, metric, pools })
    createDnsBlockAlert(this, guard.dnsRuleGroupId, topic)
    createMonthlyBudget(this, { stage, limitUsd: operations.monthlyBudgetUsd, topic })
  }
}
