import { GatewayVpcEndpointAwsService, IpAddresses, SubnetType, Vpc, type ISecurityGroup, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { Cluster, FargateService, type FargateTaskDefinition, type ICluster } from 'aws-cdk-lib/aws-ecs'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { pinZones } from './pin-zones.ts'

/** A separate network of two public subnets: no sandbox shares it. The bucket and the table are reached without the internet. */
export function createEgressNetwork(
  scope: Construct,
  { cidr, subnetMask, zoneIds }: { readonly cidr: string; readonly subnetMask: number; readonly zoneIds: readonly string[] | undefined },
): IVpc {
  const vpc = new Vpc(scope, 'Vpc', {
    ipAddresses: IpAddresses.cidr(cidr),
    maxAzs: 2,
    natGateways: 0,
    restrictDefaultSecurityGroup: false,
    subnetConfiguration: [{ name: 'public', subnetType: SubnetType.PUBLIC, cidrMask: subnetMask }],
    gatewayEndpoints: {
      Objects: { service: GatewayVpcEndpointAwsService.S3 },
      Table: { service: GatewayVpcEndpointAwsService.DYNAMODB },
    },
  })
  pinZones(vpc.publicSubnets, zoneIds)
  return vpc as IVpc
}

export interface EgressServiceProps {
  readonly config: Pick<Config, 'stage'>
  /** Part of the name of the cluster. */
  readonly name: 'uploads' | 'network'
  readonly vpc: IVpc
  readonly taskDefinition: FargateTaskDefinition
  readonly group: ISecurityGroup
}

/** One task in a cluster of its network. The next version starts before this one ends; one that does not start is rolled back. */
export const createEgressService = (scope: Construct, { config, name, vpc, taskDefinition, group }: EgressServiceProps): FargateService =>
  new FargateService(scope, 'Service', {
    cluster: new Cluster(scope, 'Cluster', { vpc, clusterName: `cellblock-${config.stage}-${name}` }) as ICluster,
    taskDefinition,
    desiredCount: 1,
    minHealthyPercent: 100,
    maxHealthyPercent: 200,
    circuitBreaker: { rollback: true },
    // Without NAT the task needs a public address. Its security group accepts no connection of the internet.
    assignPublicIp: true,
    vpcSubnets: { subnetType: SubnetType.PUBLIC },
    securityGroups: [group],
  })
