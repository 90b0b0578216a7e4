import { Duration } from 'aws-cdk-lib'
import {
  CfnRoute,
  CfnSecurityGroupEgress,
  CfnSecurityGroupIngress,
  CfnVPCPeeringConnection,
  Peer,
  Port,
  SecurityGroup,
  type ISecurityGroup,
  type ISubnet,
  type IVpc,
} from 'aws-cdk-lib/aws-ec2'
import type { FargateService } from 'aws-cdk-lib/aws-ecs'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { createApiTask, type ApiTaskProps } from './api-task.ts'
import { createEgressNetwork, createEgressService } from './egress-service.ts'
import { SUPERVISOR_PORT } from './security-groups.ts'

/** The smallest task: it decides and copies bytes. */
const GATEWAY_TASK = { cpu: 256, memoryMiB: 512 } as const
/** Of this network only. The upload service has the range before it; `network.cidr` lies elsewhere. */
const CIDR = '10.89.1.0/27'

export interface NetworkGatewayProps extends Omit<ApiTaskProps, 'name' | 'size'> {
  readonly config: Pick<Config, 'stage' | 'retention' | 'network'>
  readonly network: SandboxSide
}

/** Where the sandboxes are. */
interface SandboxSide {
  readonly vpc: IVpc
  readonly sandboxSubnets: readonly ISubnet[]
  readonly sandboxGroup: ISecurityGroup
}

/**
 * The network gateway: one task in a separate network, which is peered with that of the sandboxes. A sandbox has no route to the internet by that: AWS
 * routes no packet of a peer through an internet gateway. Nothing can open a connection to the task, and sandboxes open none at all.
 */
export class NetworkGateway extends Construct {
  readonly service: FargateService

  constructor(scope: Construct, id: string, props: NetworkGatewayProps) {
    super(scope, id)
    const { config, network } = props
    if (config.network.cidr.startsWith('10.89.'))
      throw new Error(
        'cellblock.network.cidr must not be in 10.89.0.0/16 with network.gateway, whose own network is there. Use another range.',
      )
    const vpc = createEgressNetwork(this, { cidr: CIDR, subnetMask: 28, zoneIds: config.network.zoneIds })
    const group = new SecurityGroup(this, 'TaskGroup', {
      vpc,
      description: 'Network gateway: accepts no connection, reaches sandboxes and the web',
      allowAllOutbound: false,
    })
    for (const port of [443, 80]) group.addEgressRule(Peer.anyIpv4(), Port.tcp(port), 'hosts of policies; table, secret, image, logs')
    const peering = this.peer(vpc, network)
    const rule = { ipProtocol: 'tcp', fromPort: SUPERVISOR_PORT, toPort: SUPERVISOR_PORT }
    const toSandboxes = new CfnSecurityGroupEgress(this, 'ToSandboxes', {
      ...rule,
      description: 'supervisors',
      groupId: group.securityGroupId,
      destinationSecurityGroupId: network.sandboxGroup.securityGroupId,
    })
    const intoSandboxes = new CfnSecurityGroupIngress(this, 'IntoSandboxes', {
      ...rule,
      description: 'the network gateway',
      groupId: network.sandboxGroup.securityGroupId,
      sourceSecurityGroupId: group.securityGroupId,
    })
    // A rule can name a group of a peer only.
    for (const end of [toSandboxes, intoSandboxes]) end.addResourceDependency(peering)

    // The next task waits for the lease of this one.
    this.service = createEgressService(this, {
      config,
      name: 'network',
      vpc,
      taskDefinition: createApiTask(this, { ...props, name: 'network', size: GATEWAY_TASK }),
      group,
    })
    for (const end of [toSandboxes, intoSandboxes]) this.service.node.addDependency(end)
  }

  /** Without DNS over the peering: its names are those of the internet, and those of the sandboxes' network do not change. */
  private peer(vpc: IVpc, { vpc: sandboxVpc, sandboxSubnets }: SandboxSide): CfnVPCPeeringConnection {
    const peering = new CfnVPCPeeringConnection(this, 'Peering', { vpcId: vpc.vpcId, peerVpcId: sandboxVpc.vpcId })
    for (const [from, { routeTable }] of vpc.publicSubnets.entries())
      for (const [to, sandboxes] of sandboxSubnets.entries())
        new CfnRoute(this, `ToSandboxes${from}-${to}`, {
          routeTableId: routeTable.routeTableId,
          destinationCidrBlock: sandboxes.ipv4CidrBlock,
          vpcPeeringConnectionId: peering.attrId,
        })
    // Answers of the supervisors only: their security group opens no connection.
    for (const [from, { routeTable }] of sandboxSubnets.entries())
      new CfnRoute(this, `Answers${from}`, {
        routeTableId: routeTable.routeTableId,
        destinationCidrBlock: CIDR,
        vpcPeeringConnectionId: peering.attrId,
      })
    return peering
  }
}

/** Samples of the service's metric in five minutes: none without a task. */
export const runningTasks = ({ service }: NetworkGateway) =>
  service.metricCpuUtilization({ period: Duration.minutes(5), statistic: 'SampleCount' })
