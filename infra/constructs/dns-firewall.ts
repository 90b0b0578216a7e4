import type { IVpc } from 'aws-cdk-lib/aws-ec2'
import { CfnFirewallDomainList, CfnFirewallRuleGroup, CfnFirewallRuleGroupAssociation } from 'aws-cdk-lib/aws-route53resolver'
import { Construct } from 'constructs'

export interface DnsFirewallProps {
  readonly vpc: IVpc
  /** Exact names. CNAME chains that start at them are trusted: AWS's names redirect to other AWS names. */
  readonly allowedNames: readonly string[]
}

/**
 * Security groups do not filter the VPC resolver, so DNS queries could carry data out. The resolver answers these names only.
 * It fails closed by default: the doctor reads that setting, because CloudFormation cannot create it in every Region.
 */
export class DnsFirewall extends Construct {
  readonly ruleGroupId: string

  constructor(scope: Construct, id: string, { vpc, allowedNames }: DnsFirewallProps) {
    super(scope, id)
    const allowed = new CfnFirewallDomainList(this, 'AllowedNames', { domains: [...allowedNames] })
    const all = new CfnFirewallDomainList(this, 'AllNames', { domains: ['*'] })
    const rules = new CfnFirewallRuleGroup(this, 'Rules', {
      firewallRules: [
        {
          priority: 100,
          action: 'ALLOW',
          firewallDomainListId: allowed.attrId,
          firewallDomainRedirectionAction: 'TRUST_REDIRECTION_DOMAIN',
        },
        { priority: 200, action: 'BLOCK', blockResponse: 'NXDOMAIN', firewallDomainListId: all.attrId },
      ],
    })
    this.ruleGroupId = rules.attrId
    new CfnFirewallRuleGroupAssociation(this, 'OfVpc', { firewallRuleGroupId: rules.attrId, vpcId: vpc.vpcId, priority: 101 })
  }
}
