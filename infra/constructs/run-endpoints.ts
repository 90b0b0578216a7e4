import {
  GatewayVpcEndpoint,
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  type ISecurityGroup,
  type ISubnet,
  type IVpc,
} from 'aws-cdk-lib/aws-ec2'
import { AnyPrincipal, PolicyStatement, type IRole } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { IamAccess } from '../iam-statements.ts'

export interface RunEndpointsProps {
  readonly vpc: IVpc
  readonly subnets: readonly ISubnet[]
  readonly endpointSubnets: ISubnet[]
  readonly securityGroup: ISecurityGroup
  readonly role: IRole
  /** The role's permissions; each endpoint policy allows its service's part of them. */
  readonly access: { readonly table: IamAccess; readonly objects: readonly IamAccess[]; readonly send: IamAccess }
}

/** The destinations of the run subnets besides sandboxes: our table, bucket and queues, for the role of the run worker only. */
export class RunEndpoints extends Construct {
  constructor(scope: Construct, id: string, { vpc, subnets, endpointSubnets, securityGroup, role, access }: RunEndpointsProps) {
    super(scope, id)
    const forRole = ({ actions, resources }: IamAccess) =>
      new PolicyStatement({
        principals: [new AnyPrincipal()],
        actions: [...actions],
        resources: [...resources],
        conditions: { ArnEquals: { 'aws:PrincipalArn': role.roleArn } },
      })
    const gateway = (name: string, service: GatewayVpcEndpointAwsService) =>
      new GatewayVpcEndpoint(this, name, { vpc, service, subnets: [{ subnets: [...subnets] }] })

    gateway('Table', GatewayVpcEndpointAwsService.DYNAMODB).addToPolicy(forRole(access.table))
    const objects = gateway('Objects', GatewayVpcEndpointAwsService.S3)
    for (const part of access.objects) objects.addToPolicy(forRole(part))
    new InterfaceVpcEndpoint(this, 'Queues', {
      vpc,
      service: InterfaceVpcEndpointAwsService.SQS,
      subnets: { subnets: endpointSubnets },
      securityGroups: [securityGroup],
      open: false,
      privateDnsEnabled: true,
    }).addToPolicy(forRole(access.send))
  }
}
