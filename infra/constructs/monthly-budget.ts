import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'

export interface MonthlyBudgetProps {
  readonly stage: string
  readonly limitUsd: number
  readonly topic: ITopic
}

/** Counts what carries this stage's tag; the tag must be activated once for cost allocation. Budgets tell, they stop nothing. */
export function createMonthlyBudget(scope: Construct, { stage, limitUsd, topic }: MonthlyBudgetProps): CfnBudget {
  const subscribers = [{ subscriptionType: 'SNS', address: topic.topicArn }]
  const when = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
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
    notificationsWithSubscribers: [when('ACTUAL', 80), when('FORECASTED', 100)],
  })
}
