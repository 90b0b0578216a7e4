import { Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events'
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'

/** No component queries another name, so a blocked query means that an isolation layer inside a sandbox failed. */
export const createDnsBlockAlert = (scope: Construct, ruleGroupId: string, topic: ITopic): Rule =>
  new Rule(scope, 'BlockedName', {
    eventPattern: {
      source: ['aws.route53resolver'],
      detailType: ['DNS Firewall Block'],
      detail: { 'firewall-rule-group-id': [ruleGroupId] },
    },
    targets: [
      new SnsTopic(topic, {
        message: RuleTargetInput.fromText(
          'A DNS query for a name outside the allow list came from the sandbox network: an isolation layer may have failed. Stop the sandboxes and run npm run doctor -- --aws.',
        ),
      }),
    ],
  })
