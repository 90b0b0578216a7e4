import { Stack, type StackProps } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { MEMORY_TIERS } from '../../services/core/limits.ts'
import type { Config } from '../config.ts'
import { createAlarmTopic } from '../constructs/alarm-topic.ts'
import { Alarms } from '../constructs/alarms.ts'
import { createDashboard } from '../constructs/dashboard.ts'
import { createDnsBlockAlert } from '../constructs/dns-block-alert.ts'
import { metricsOf } from '../constructs/metrics.ts'
import { createMonthlyBudget } from '../constructs/monthly-budget.ts'
import type { DataStack } from './data-stack.ts'
import type { GuardStack } from './guard-stack.ts'
import type { ServiceStack } from './service-stack.ts'

export interface OperationsStackProps extends StackProps {
  readonly config: Config
  readonly data: DataStack
  readonly guard: GuardStack
  readonly service: ServiceStack
}

/** Dashboard, alarms and budget. */
export class OperationsStack extends Stack {
  constructor(scope: Construct, id: string, { config, data, guard, service, ...props }: OperationsStackProps) {
    super(scope, id, props)
    const { stage, operations, sandboxes } = config
    const { queues } = data
    const { functions } = service
    const topic = createAlarmTopic(this, stage, operations.alarmEmail)
    const metric = metricsOf(stage)
    const pools = MEMORY_TIERS.filter((tier) => (sandboxes.tiers[tier]?.warm ?? 0) > 0)
    new Alarms(this, 'When', { topic, queues, functions, metric, table: data.table, pools })
    createDashboard(this, { stage, queues, functions, metric, pools })
    createDnsBlockAlert(this, guard.dnsRuleGroupId, topic)
    createMonthlyBudget(this, { stage, limitUsd: operations.monthlyBudgetUsd, topic })
  }
}
