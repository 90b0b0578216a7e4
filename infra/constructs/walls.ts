import { CfnSecurityGroup, CfnSecurityGroupEgress, SecurityGroup, type ISecurityGroup, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { Construct } from 'constructs'
import type { PrefixLists } from './prefix-lists.ts'

/** The one port of a sandbox: its supervisor's. */
export const SUPERVISOR_PORT = 8700

export interface WallsProps {
  readonly vpc: IVpc
  readonly prefixLists: PrefixLists
}

/**
 * Who may open a connection to whom. Every rule names both ends. Each group has an outbound rule of its own inside it, because EC2 lets a
 * group without one talk to everybody.
 */
export class Walls extends Construct {
  readonly sandbox: ISecurityGroup
  readonly run: ISecurityGroup
  readonly imageEndpoints: ISecurityGroup
  readonly queueEndpoint: ISecurityGroup

  constructor(scope: Construct, id: string, { vpc, prefixLists }: WallsProps) {
    super(scope, id)
    const vpcId = vpc.vpcId
    const https = (description: string) => ({ ipProtocol: 'tcp', fromPort: 443, toPort: 443, description })
    const control = (description: string) => ({ ipProtocol: 'tcp', fromPort: SUPERVISOR_PORT, toPort: SUPERVISOR_PORT, description })
    /** Replies need no rule; this one matches no packet. */
    const nowhere = { ipProtocol: 'icmp', fromPort: 252, toPort: 86, cidrIp: '255.255.255.255/32', description: 'opens no connection' }

    const run = new CfnSecurityGroup(this, 'Run', {
      vpcId,
      groupDescription: 'The run worker: reached by nobody',
      securityGroupIngress: [],
      securityGroupEgress: [
        { ...https('objects'), destinationPrefixListId: prefixLists.s3 },
        { ...https('table'), destinationPrefixListId: prefixLists.dynamodb },
      ],
    })
    const sandbox = new CfnSecurityGroup(this, 'Sandbox', {
      vpcId,
      groupDescription: 'Sandboxes: reached by the run worker, reach the image and nothing else',
      securityGroupIngress: [{ ...control('the run worker'), sourceSecurityGroupId: run.attrGroupId }],
      securityGroupEgress: [{ ...https('image layers, pulled by Fargate'), destinationPrefixListId: prefixLists.s3 }],
    })
    const imageEndpoints = new CfnSecurityGroup(this, 'ImageEndpoints', {
      vpcId,
      groupDescription: 'ECR endpoints: reached by sandboxes',
      securityGroupIngress: [{ ...https('image pulls'), sourceSecurityGroupId: sandbox.attrGroupId }],
      securityGroupEgress: [nowhere],
    })
    const queueEndpoint = new CfnSecurityGroup(this, 'QueueEndpoint', {
      vpcId,
      groupDescription: 'SQS endpoint: reached by the run worker',
      securityGroupIngress: [{ ...https('the run worker'), sourceSecurityGroupId: run.attrGroupId }],
      securityGroupEgress: [nowhere],
    })
    new CfnSecurityGroupEgress(this, 'RunToSandbox', {
      ...control('supervisors'),
      groupId: run.attrGroupId,
      destinationSecurityGroupId: sandbox.attrGroupId,
    })
    new CfnSecurityGroupEgress(this, 'RunToQueues', {
      ...https('queues'),
      groupId: run.attrGroupId,
      destinationSecurityGroupId: queueEndpoint.attrGroupId,
    })
    new CfnSecurityGroupEgress(this, 'SandboxToImage', {
      ...https('image manifest, pulled by Fargate'),
      groupId: sandbox.attrGroupId,
      destinationSecurityGroupId: imageEndpoints.attrGroupId,
    })

    const fixed = (name: string, group: CfnSecurityGroup) =>
      SecurityGroup.fromSecurityGroupId(this, name, group.attrGroupId, { mutable: false })
    this.sandbox = fixed('SandboxGroup', sandbox)
    this.run = fixed('RunGroup', run)
    this.imageEndpoints = fixed('ImageEndpointsGroup', imageEndpoints)
    this.queueEndpoint = fixed('QueueEndpointGroup', queueEndpoint)
  }
}
