import { CrossStackReferences, ReferenceStrength } from 'aws-cdk-lib'
import { IpAddresses, SubnetType, Vpc, type ISubnet, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { pinZones } from './pin-zones.ts'

/** Where sandboxes and run workers run: subnets without a route to the internet, in a VPC that holds nothing else. */
export interface SandboxNetwork {
  readonly vpc: IVpc
  /** One per availability zone, with a route table that no other subnet uses. */
  readonly sandboxSubnets: ISubnet[]
  /** As many, with another route table. */
  readonly runSubnets: ISubnet[]
}

/**
 * A VPC without internet gateway, NAT, IPv6 or peering. Sandboxes and run workers have separate subnets and route tables, so that neither can
 * use the endpoints of the other.
 */
export class IsolatedVpc extends Construct implements SandboxNetwork {
  readonly vpc: IVpc
  readonly sandboxSubnets: ISubnet[]
  readonly runSubnets: ISubnet[]

  constructor(scope: Construct, { cidr, zoneIds }: Pick<Config['network'], 'cidr' | 'zoneIds'>) {
    // Another range or other zones are another network under other names, so the templates that use it change too.
    super(scope, ['Vpc', cidr.replaceAll(/\W/g, '-'), ...(zoneIds ?? [])].join('-'))
    const sandboxMask = Number(cidr.split('/')[1]) + 2
    const vpc = new Vpc(this, 'Resource', {
      ipAddresses: IpAddresses.cidr(cidr),
      maxAzs: 2,
      natGateways: 0,
      createInternetGateway: false,
      enableDnsHostnames: true,
      enableDnsSupport: true,
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        { name: 'sandbox', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: sandboxMask },
        { name: 'run', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 24 },
      ],
    })
    this.vpc = vpc as IVpc
    this.sandboxSubnets = vpc.selectSubnets({ subnetGroupName: 'sandbox' }).subnets
    this.runSubnets = vpc.selectSubnets({ subnetGroupName: 'run' }).subnets
    for (const subnets of [this.sandboxSubnets, this.runSubnets]) pinZones(subnets, zoneIds)
    // An export that another stack imports cannot change, so another range could not be deployed.
    for (const part of [vpc, ...vpc.isolatedSubnets]) CrossStackReferences.of(part).produce(ReferenceStrength.WEAK)
  }
}
