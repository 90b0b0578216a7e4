import { Duration } from 'aws-cdk-lib'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'

export interface SandboxEventsProps {
  readonly reconciler: IFunction
  readonly clusterArn: string
}

/** Events are hints: they may be duplicated, late or lost, and the scheduled pass finds the same. A task's `startedBy` is its sandbox id. */
export class SandboxEvents extends Construct {
  constructor(scope: Construct, id: string, { reconciler, clusterArn }: SandboxEventsProps) {
    super(scope, id)
    new Rule(this, 'EveryMinute', {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [new LambdaFunction(reconciler, { event: RuleTargetInput.fromObject({ kind: 'pass' }), retryAttempts: 0 })],
    })

    const onTask = (name: string, states: Readonly<Record<string, string[]>>) =>
      new Rule(this, name, {
        eventPattern: {
          source: ['aws.ecs'],
          detailType: ['ECS Task State Change'],
          detail: { clusterArn: [clusterArn], startedBy: [{ prefix: 'sbx_' }], ...states },
        },
        // The whole event: it holds the address of a task that runs and the exit code of one that ended.
        targets: [new LambdaFunction(reconciler, { retryAttempts: 2, maxEventAge: Duration.minutes(5) })],
      })
    onTask('SandboxRuns', { lastStatus: ['RUNNING'], desiredStatus: ['RUNNING'] })
    onTask('SandboxEnds', { desiredStatus: ['STOPPED'] })
  }
}
