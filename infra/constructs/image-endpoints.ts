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
  /** Subnets with an interface endpoint; one serves all zones. */
  readonly endpointSubnets: ISubnet[]
  readonly securityGroup: ISecurityGroup
  readonly repository: IRepository
  readonly executionRole: IRole
}

/** The only destinations of the sandbox subnets: ECR for the one sandbox image and its execution role, and read access to ECR's layer bucket. */
export class ImageEndpoints extends Construct {
  constructor(scope: Construct, id: string, props: ImageEndpointsProps) {
    super(scope, id)
    const { vpc, repository, executionRole } = props
    const byExecutionRole = { ArnEquals: { 'aws:PrincipalArn': executionRole.roleArn } }
    const pull = [
      new PolicyStatement({
        sid: 'LogIn',
        principals: [new AnyPrincipal()],
        actions: ['ecr:GetAuthorizationToken'],
        resources: ['*'],
        conditions: byExecutionRole,
      }),
      new PolicyStatement({
        sid: 'PullOurImage',
        principals: [new AnyPrincipal()],
        actions: ['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetDownloadUrlForLayer'],
        resources: [repository.repositoryArn],
        conditions: byExecutionRole,
      }),
    ]
    for (const [name, service] of [
      ['EcrApi', InterfaceVpcEndpointAwsService.ECR],
      ['EcrDocker', InterfaceVpcEndpointAwsService.ECR_DOCKER],
    ] as const) {
      const endpoint = new InterfaceVpcEndpoint(this, name, {
        vpc,
        service,
        subnets: { subnets: props.endpointSubnets },
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
    // ECR signs the layer URLs, so the policy cannot name our role: it restricts bucket and action.
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

/** ECR's bucket of image layers in a Region. */
export const layerBucketName = (region: string): string => `prod-${region}-starport-layer-bucket`
