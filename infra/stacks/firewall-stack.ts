import { CfnOutput, Fn, type StackProps } from 'aws-cdk-lib'
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import { CLOUDFRONT_REGION } from '../config.ts'
import { FlaggedStack } from './flagged-stack.ts'

export interface FirewallStackProps extends StackProps {
  readonly stage: string
  /** Requests of one address in five minutes. */
  readonly rateLimit: number
}

/** The web ACL of the distribution with one rule: an address that sends too many requests gets 403 until it sends fewer. */
export class FirewallStack extends FlaggedStack {
  /** For a stack of any Region. */
  readonly webAclArn: string

  constructor(scope: Construct, id: string, { stage, rateLimit, ...props }: FirewallStackProps) {
    super(scope, id, { ...props, env: { region: CLOUDFRONT_REGION } })
    const visibility = (metricName: string) => ({ cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false, metricName })
    const acl = new CfnWebACL(this, 'RateLimit', {
      name: `cellblock-${stage}`,
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: visibility(`cellblock-${stage}`),
      rules: [
        {
          name: 'rate-per-address',
          priority: 0,
          action: { block: {} },
          statement: { rateBasedStatement: { limit: rateLimit, evaluationWindowSec: 300, aggregateKeyType: 'IP' } },
          visibilityConfig: visibility(`cellblock-${stage}-rate-per-address`),
        },
      ],
    })
    const output = new CfnOutput(this, 'WebAclArn', { value: acl.attrArn })
    this.webAclArn = Fn.getStackOutput(this.stackName, output.logicalId, CLOUDFRONT_REGION)
  }
}
