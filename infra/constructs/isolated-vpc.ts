import { FlowLogDestination, FlowLogTrafficType, IpAddresses, SubnetType, Vpc, type ISubnet, type IVpc } from 'aws-cdk-lib/aws-ec2'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'

export interface IsolatedVpcProps {
  readonly cidr: string
  readonly flowLogs: IBucket
}

/**
 * A network without a way out: no internet gateway, no NAT, no IPv6, no peering. Sandboxes and the run worker have subnets and route tables of
 * their own, so that what the one may reach the other cannot. Refused packets are logged: there should be none.
 */
export class IsolatedVpc extends Construct {
  readonly vpc: IVpc
  readonly sandboxSubnets: ISubnet[]
  readonly runSubnets: ISubnet[]

  constructor(scope: Construct, id: string, { cidr, flowLogs }: IsolatedVpcProps) {
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
      flowLogs: { refused: { trafficType: FlowLogTrafficType.REJECT, destination: FlowLogDestination.toS3(flowLogs, 'flow-logs/') } },
    })
    this.vpc = vpc as IVpc
    this.sandboxSubnets = vpc.selectSubnets({ subnetGroupName: 'sandbox' }).subnets
    this.runSubnets = vpc.selectSubnets({ subnetGroupName: 'run' }).subnets
  }
}
