import { IpAddresses, SubnetType, Vpc, type ISubnet, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { Construct } from 'constructs'

/**
 * A network without a way out: no internet gateway, no NAT, no IPv6, no peering. Sandboxes and the run worker have subnets and route tables of
 * their own, so that what the one may reach the other cannot.
 */
export class IsolatedVpc extends Construct {
  readonly vpc: IVpc
  readonly sandboxSubnets: ISubnet[]
  readonly runSubnets: ISubnet[]

  constructor(scope: Construct, id: string, cidr: string) {
    super(scope, id)
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
  }
}
