import { type StackProps } from 'aws-cdk-lib'
import { FlowLog, FlowLogDestination, FlowLogResourceType, FlowLogTrafficType } from 'aws-cdk-lib/aws-ec2'
import type { Construct } from 'constructs'
import { DnsFirewall } from '../constructs/dns-firewall.ts'
import type { DataStack } from './data-stack.ts'
import type { NetworkStack } from './network-stack.ts'
import { FlaggedStack } from './flagged-stack.ts'

export interface GuardStackProps extends StackProps {
  readonly data: DataStack
  readonly network: NetworkStack
}

/**
 * DNS firewall and flow logs of rejected packets. A separate stack, because emulated accounts support neither; the service is deployed after
 * it.
 */
export class GuardStack extends FlaggedStack {
  readonly dnsRuleGroupId: string

  constructor(scope: Construct, id: string, { data, network, ...props }: GuardStackProps) {
    super(scope, id, props)
    const { vpc, allowedDnsNames } = network
    this.dnsRuleGroupId = new DnsFirewall(this, 'DnsFirewall', { vpc, allowedNames: allowedDnsNames }).ruleGroupId
    new FlowLog(this, 'Refused', {
      resourceType: FlowLogResourceType.fromVpc(vpc),
      trafficType: FlowLogTrafficType.REJECT,
      destination: FlowLogDestination.toS3(data.accessLogs, 'flow-logs/'),
    })
  }
}
