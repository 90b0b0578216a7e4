import { IpAddresses, SubnetType, Vpc, type ISubnet, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { Construct } from 'constructs'

/**
 * A VPC without internet gateway, NAT, IPv6 or peering. Sandboxes and run workers have separate subnets and route tables, so that neither can
 * use the endpoints of the other.
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
