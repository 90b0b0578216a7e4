import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'

export interface MonthlyBudgetProps {
  readonly stage: string
  readonly limitUsd: number
  readonly topic: ITopic
}

/** Counts resources with the tag of this stage; activate the tag once for cost allocation. A budget notifies and stops nothing. */
export function createMonthlyBudget(scope: Construct, { stage, limitUsd, topic }: MonthlyBudgetProps): CfnBudget {
  const subscribers = [{ subscriptionType: 'SNS', address: topic.topicArn }]
  const notifyAt = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
    notification: { notificationType, comparisonOperator: 'GREATER_THAN', threshold, thresholdType: 'PERCENTAGE' },
    subscribers,
  })
  return new CfnBudget(scope, 'Budget', {
    budget: {
      budgetName: `cellblock-${stage}`,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: limitUsd, unit: 'USD' },
      costFilters: { TagKeyValue: [`user:cellblock:stage$${stage}`] },
    },
    notificationsWithSubscribers: [notifyAt('ACTUAL', 80), notifyAt('FORECASTED', 100)],
  })
}
