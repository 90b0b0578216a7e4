import { Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events'
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'

/** Nothing in the sandboxes' network has a reason to ask for another name: the first blocked question means that a wall inside a sandbox fell. */
export const createDnsTripwire = (scope: Construct, ruleGroupId: string, topic: ITopic): Rule =>
  new Rule(scope, 'BlockedName', {
    eventPattern: {
      source: ['aws.route53resolver'],
      detailType: ['DNS Firewall Block'],
      detail: { 'firewall-rule-group-id': [ruleGroupId] },
    },
    targets: [
      new SnsTopic(topic, {
        message: RuleTargetInput.fromText(
          'Something in the network of the sandboxes asked for a name that is not allowed. Stop the sandboxes and run the doctor.',
        ),
      }),
    ],
  })
