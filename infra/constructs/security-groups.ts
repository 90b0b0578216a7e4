import { CrossStackReferences, ReferenceStrength } from 'aws-cdk-lib'
import { CfnSecurityGroup, CfnSecurityGroupIngress, SecurityGroup, type ISecurityGroup, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { Construct } from 'constructs'
import type { PrefixLists } from './prefix-lists.ts'

/** The supervisor's port, the only open port of a sandbox. */
export const SUPERVISOR_PORT = 8700

export interface SecurityGroupsProps {
  readonly vpc: IVpc
  readonly prefixLists: PrefixLists
}

/**
 * Which components may connect to which. Every rule names both ends. Egress rules are inline, because EC2 gives a group without egress rules
 * access to every destination.
 */
export class SecurityGroups extends Construct {
  readonly sandbox: ISecurityGroup
  readonly run: ISecurityGroup
  readonly imageEndpoints: ISecurityGroup
  readonly queueEndpoint: ISecurityGroup

  constructor(scope: Construct, id: string, { vpc, prefixLists }: SecurityGroupsProps) {
    super(scope, id)
    const vpcId = vpc.vpcId
    const https = (description: string) => ({ ipProtocol: 'tcp', fromPort: 443, toPort: 443, description })
    const control = (description: string) => ({ ipProtocol: 'tcp', fromPort: SUPERVISOR_PORT, toPort: SUPERVISOR_PORT, description })
    /** Matches no packet. Security groups are stateful, so replies need no rule. */
    const noEgress = { ipProtocol: 'icmp', fromPort: 252, toPort: 86, cidrIp: '255.255.255.255/32', description: 'opens no connection' }

    const imageEndpoints = new CfnSecurityGroup(this, 'ImageEndpoints', {
      vpcId,
      groupDescription: 'ECR endpoints: reached by sandboxes',
      securityGroupEgress: [noEgress],
    })
    const queueEndpoint = new CfnSecurityGroup(this, 'QueueEndpoint', {
      vpcId,
      groupDescription: 'SQS endpoint: reached by the run worker',
      securityGroupEgress: [noEgress],
    })
    const sandbox = new CfnSecurityGroup(this, 'Sandbox', {
      vpcId,
      groupDescription: 'Sandboxes: reached by the run worker, reach the image and nothing else',
      securityGroupEgress: [
        { ...https('image manifest, pulled by Fargate'), destinationSecurityGroupId: imageEndpoints.attrGroupId },
        { ...https('image layers, pulled by Fargate'), destinationPrefixListId: prefixLists.s3 },
      ],
    })
    const run = new CfnSecurityGroup(this, 'Run', {
      vpcId,
      groupDescription: 'The run worker: accepts no connection',
      securityGroupEgress: [
        { ...control('supervisors'), destinationSecurityGroupId: sandbox.attrGroupId },
        { ...https('queues'), destinationSecurityGroupId: queueEndpoint.attrGroupId },
        { ...https('objects'), destinationPrefixListId: prefixLists.s3 },
        { ...https('table'), destinationPrefixListId: prefixLists.dynamodb },
      ],
    })
    // Separate resources, because two groups cannot refer to each other.
    const allowIngress = (
      name: string,
      { into, from, rule }: { readonly into: CfnSecurityGroup; readonly from: CfnSecurityGroup; readonly rule: ReturnType<typeof https> },
    ) => new CfnSecurityGroupIngress(this, name, { ...rule, groupId: into.attrGroupId, sourceSecurityGroupId: from.attrGroupId })
    allowIngress('RunToSandbox', { into: sandbox, from: run, rule: control('the run worker') })
    allowIngress('SandboxToImage', { into: imageEndpoints, from: sandbox, rule: https('image pulls') })
    allowIngress('RunToQueues', { into: queueEndpoint, from: run, rule: https('the run worker') })

    // They are replaced with their VPC, which an imported export would prevent.
    for (const group of [sandbox, run]) CrossStackReferences.of(group).produce(ReferenceStrength.WEAK)
    const fixed = (name: string, group: CfnSecurityGroup) =>
      SecurityGroup.fromSecurityGroupId(this, name, group.attrGroupId, { mutable: false })
    this.sandbox = fixed('SandboxGroup', sandbox)
    this.run = fixed('RunGroup', run)
    this.imageEndpoints = fixed('ImageEndpointsGroup', imageEndpoints)
    this.queueEndpoint = fixed('QueueEndpointGroup', queueEndpoint)
  }
}
