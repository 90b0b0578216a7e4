import { fail, ok, warn, type Finding } from '../finding.ts'
import type { Deployed } from './deployed.ts'
import type { ResolverApi } from './resolver-api.ts'

const WHAT = 'DNS firewall'

/**
 * Whether the firewall is in front of the sandboxes' network and blocks every name while it is impaired. That is AWS's default, which the templates
 * do not set, because CloudFormation cannot create the setting in every Region.
 */
export async function checkDnsFirewall(resolver: ResolverApi, { firewallAssociation }: Deployed): Promise<Finding> {
  if (firewallAssociation === null) return fail(WHAT, 'The stack Guard has no association of a firewall. Run npm run deploy again.')
  try {
    const { FirewallRuleGroupAssociation: association } = (await resolver('GetFirewallRuleGroupAssociation', {
      FirewallRuleGroupAssociationId: firewallAssociation,
    })) as { readonly FirewallRuleGroupAssociation?: { readonly VpcId?: string; readonly Status?: string } }
    if (association?.Status !== 'COMPLETE')
      return fail(WHAT, `The association with the VPC is ${association?.Status ?? 'unknown'}, not COMPLETE. Run npm run deploy again.`)
    const { FirewallConfig: config } = (await resolver('GetFirewallConfig', { ResourceId: association.VpcId })) as {
      readonly FirewallConfig?: { readonly FirewallFailOpen?: string }
    }
    return config?.FirewallFailOpen === 'ENABLED'
      ? fail(
          WHAT,
          `${association.VpcId} answers every name while the firewall is impaired, so code could send data out in DNS queries. Run aws route53resolver update-firewall-config --resource-id ${association.VpcId} --firewall-fail-open DISABLED.`,
        )
      : ok(WHAT, `in front of ${association.VpcId}; no name is answered while it is impaired`)
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error))
    return warn(
      WHAT,
      `could not be read (${name}: ${message}): these credentials need route53resolver:GetFirewallConfig and GetFirewallRuleGroupAssociation.`,
    )
  }
}
