import { Stack } from 'aws-cdk-lib'
import {
  GatewayVpcEndpoint,
  GatewayVpcEndpointAwsService,
  InterfaceVpcEndpoint,
  InterfaceVpcEndpointAwsService,
  type ISecurityGroup,
  type ISubnet,
  type IVpc,
} from 'aws-cdk-lib/aws-ec2'
import type { IRepository } from 'aws-cdk-lib/aws-ecr'
import { AnyPrincipal, PolicyStatement, type IRole } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'

export interface ImageEndpointsProps {
  readonly vpc: IVpc
  readonly subnets: readonly ISubnet[]
  /** Subnets that the endpoints stand in; one serves all zones. */
  readonly standIn: ISubnet[]
  readonly securityGroup: ISecurityGroup
  readonly repository: IRepository
  readonly pullRole: IRole
}

/** All that a sandbox's network reaches: the manifest of our one image, for the role that pulls it, and ECR's bucket of layers, to read. */
export class ImageEndpoints extends Construct {
  constructor(scope: Construct, id: string, props: ImageEndpointsProps) {
    super(scope, id)
    const { vpc, repository, pullRole } = props
    const puller = { ArnEquals: { 'aws:PrincipalArn': pullRole.roleArn } }
    const pull = [
      new PolicyStatement({
        sid: 'LogIn',
        principals: [new AnyPrincipal()],
        actions: ['ecr:GetAuthorizationToken'],
        resources: ['*'],
        conditions: puller,
      }),
      new PolicyStatement({
        sid: 'PullOurImage',
        principals: [new AnyPrincipal()],
        actions: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
        resources: [repository.repositoryArn],
        conditions: puller,
      }),
    ]
    for (const [name, service] of [
      ['EcrApi', InterfaceVpcEndpointAwsService.ECR],
      ['EcrDocker', InterfaceVpcEndpointAwsService.ECR_DOCKER],
    ] as const) {
      const endpoint = new InterfaceVpcEndpoint(this, name, {
        vpc,
        service,
        subnets: { subnets: props.standIn },
        securityGroups: [props.securityGroup],
        open: false,
        privateDnsEnabled: true,
      })
      for (const statement of pull) endpoint.addToPolicy(statement)
    }
    const layers = new GatewayVpcEndpoint(this, 'Layers', {
      vpc,
      service: GatewayVpcEndpointAwsService.S3,
      subnets: [{ subnets: [...props.subnets] }],
    })
    // Layers come by links that ECR has signed, so the caller is not ours to name: the bucket and the verb are.
    layers.addToPolicy(
      new PolicyStatement({
        sid: 'ReadLayers',
        principals: [new AnyPrincipal()],
        actions: ['s3:GetObject'],
        resources: [`arn:aws:s3:::${layerBucketName(Stack.of(this).region)}/*`],
      }),
    )
  }
}

/** Where ECR keeps the layers of a Region. */
export const layerBucketName = (region: string): string => `prod-${region}-starport-layer-bucket`
