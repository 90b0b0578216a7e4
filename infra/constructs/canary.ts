import { Duration } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, MathExpression, TreatMissingData, type IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup, type ILambdaDeploymentConfig } from 'aws-cdk-lib/aws-codedeploy'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Alias } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import type { MetricName } from '../../services/model/metrics.ts'
import type { Config } from '../config.ts'
import type { MetricsOf } from './metrics.ts'

type CanaryMinutes = Exclude<Config['deployment']['canaryMinutes'], 0>

const CONFIGS: Readonly<Record<CanaryMinutes, ILambdaDeploymentConfig>> = {
  5: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  10: LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
  15: LambdaDeploymentConfig.CANARY_10PERCENT_15MINUTES,
  30: LambdaDeploymentConfig.CANARY_10PERCENT_30MINUTES,
}

/** Functions with an alias, with the metric that counts what they report as failed without failing themselves. */
export const RELEASED = { api: 'ApiFailed', chat: 'MessageFailed', run: 'MessageFailed' } as const satisfies Record<string, MetricName>
export type ReleasedFunction = keyof typeof RELEASED

/** Failures of one minute that end a canary. A single one may be a client's time-out. */
const FAILURES_A_MINUTE = 3

export interface CanaryProps {
  readonly stage: string
  readonly minutes: CanaryMinutes
  readonly aliases: Readonly<Partial<Record<ReleasedFunction, Alias>>>
  readonly metric: MetricsOf
}

/**
 * CodeDeploy shifts each alias to the new version in two steps, and back at once when its alarm goes off; CloudFormation then rolls the stack back. The
 * first deployment creates the aliases and shifts nothing.
 */
export class Canary extends Construct {
  constructor(scope: Construct, id: string, { stage, minutes, aliases, metric }: CanaryProps) {
    super(scope, id)
    const application = new LambdaApplication(this, 'Application', { applicationName: `cellblock-${stage}` })
    const role = new Role(this, 'Role', {
      description: 'Cellblock: CodeDeploy shifts the aliases of the functions',
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
      managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AWSCodeDeployRoleForLambdaLimited')],
    })
    for (const [name, alias] of Object.entries(aliases) as [ReleasedFunction, Alias][])
      new LambdaDeploymentGroup(this, name, {
        application,
        deploymentGroupName: `cellblock-${stage}-${name}`,
        alias,
        role: role.withoutPolicyUpdates(),
        deploymentConfig: CONFIGS[minutes],
        alarms: [this.alarm(name, alias, metric(RELEASED[name], { periodMinutes: 1 }))],
        autoRollback: { deploymentInAlarm: true, failedDeployment: true, stoppedDeployment: true },
      })
  }

  /** Without data there is no traffic, and nothing speaks against the new version. */
  private alarm(name: ReleasedFunction, alias: Alias, failed: IMetric): Alarm {
    const period = Duration.minutes(1)
    return new Alarm(this, `${name}-failures`, {
      alarmDescription: `The ${name} function fails while its new version is tried: CodeDeploy goes back to the old one. docs/operations.md says what to do.`,
      metric: new MathExpression({
        period,
        expression: 'FILL(errors, 0) + FILL(failed, 0)',
        usingMetrics: { errors: alias.metricErrors({ period }), failed },
      }),
      threshold: FAILURES_A_MINUTE,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
  }
}
