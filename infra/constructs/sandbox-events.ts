import { Duration } from 'aws-cdk-lib'
import { EventField, Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'

/** An event that invokes the reconciler: its schedule, or a task state change. */
export type ReconcilerEvent = { readonly kind: 'pass' } | { readonly kind: 'sandbox'; readonly sandboxId: string }

export interface SandboxEventsProps {
  readonly reconciler: IFunction
  readonly clusterArn: string
}

/** Events are hints: they may be duplicated, late or lost, and the scheduled pass finds the same. A task's `startedBy` is its sandbox id. */
export class SandboxEvents extends Construct {
  constructor(scope: Construct, id: string, { reconciler, clusterArn }: SandboxEventsProps) {
    super(scope, id)
    const pass: ReconcilerEvent = { kind: 'pass' }
    new Rule(this, 'EveryMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(reconciler, { event: RuleTargetInput.fromObject(pass), retryAttempts: 0 })],
    })

    const changed: ReconcilerEvent = { kind: 'sandbox', sandboxId: EventField.fromPath('$.detail.startedBy') }
    new Rule(this, 'SandboxEnds', {
      eventPattern: {
        source: ['aws.ecs'],
        detailType: ['ECS Task State Change'],
        detail: { clusterArn: [clusterArn], desiredStatus: ['STOPPED'], startedBy: [{ prefix: 'sbx_' }] },
      },
      targets: [
        new LambdaFunction(reconciler, { event: RuleTargetInput.fromObject(changed), retryAttempts: 2, maxEventAge: Duration.minutes(5) }),
      ],
    })
  }
}
