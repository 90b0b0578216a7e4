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
import type { Access } from '../access.ts'

export interface RunEndpointsProps {
  readonly vpc: IVpc
  readonly subnets: readonly ISubnet[]
  readonly standIn: ISubnet[]
  readonly securityGroup: ISecurityGroup
  readonly role: IRole
  /** What the role may do; each endpoint lets exactly its service's part of it through. */
  readonly access: { readonly table: Access; readonly objects: readonly Access[]; readonly send: Access }
}

/** All that the run worker's network reaches besides sandboxes: our table, our bucket, our queues, each for its role only. */
export class RunEndpoints extends Construct {
  constructor(scope: Construct, id: string, { vpc, subnets, standIn, securityGroup, role, access }: RunEndpointsProps) {
    super(scope, id)
    const forRole = ({ actions, resources }: Access) =>
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
      subnets: { subnets: standIn },
      securityGroups: [securityGroup],
      open: false,
      privateDnsEnabled: true,
    }).addToPolicy(forRole(access.send))
  }
}
