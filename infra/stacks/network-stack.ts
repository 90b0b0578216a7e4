import { CfnOutput, type StackProps } from 'aws-cdk-lib'
import type { ISecurityGroup, ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2'
import type { IRepository } from 'aws-cdk-lib/aws-ecr'
import type { Role } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'
import type { Config } from '../config.ts'
import { BuiltImages } from '../constructs/built-images.ts'
import { ImageEndpoints, layerBucketName } from '../constructs/image-endpoints.ts'
import { IsolatedVpc, type SandboxNetwork } from '../constructs/isolated-vpc.ts'
import { prefixLists } from '../constructs/prefix-lists.ts'
import { createTaskExecutionRole } from '../constructs/task-execution-role.ts'
import { RunEndpoints } from '../constructs/run-endpoints.ts'
import { SecurityGroups } from '../constructs/security-groups.ts'
import { WorkerRole } from '../constructs/worker-role.ts'
import { functionName } from '../function-name.ts'
import { runAccess } from '../iam-policies.ts'
import type { DataStack } from './data-stack.ts'
import { FlaggedStack } from './flagged-stack.ts'

export interface NetworkStackProps extends StackProps {
  readonly config: Config
  readonly data: DataStack
  readonly images: NetworkImages
  /** An isolated network of the caller. Without one the stack creates a VPC. */
  readonly network: SandboxNetwork | undefined
}

/** The repository of the sandbox images, or the folder from which the CDK builds them. */
export type NetworkImages = { readonly repository: IRepository } | { readonly folder: string }

/** The isolated network and the two roles that its endpoint policies name. */
export class NetworkStack extends FlaggedStack {
  readonly vpc: IVpc
  readonly sandboxSubnets: readonly ISubnet[]
  readonly runSubnets: readonly ISubnet[]
  readonly sandboxGroup: ISecurityGroup
  readonly runGroup: ISecurityGroup
  readonly executionRole: Role
  readonly runRole: Role
  /** URIs of the images that the CDK builds, by name; null: they are in a repository. */
  readonly builtImages: Readonly<Record<string, string>> | null
  /** The DNS names that components of this network need. */
  readonly allowedDnsNames: readonly string[]

  constructor(scope: Construct, id: string, { config, data, images, network, ...props }: NetworkStackProps) {
    super(scope, id, props)
    const { endpointZones, s3PrefixListId, dynamodbPrefixListId } = config.network
    const { vpc, sandboxSubnets, runSubnets } = network ?? new IsolatedVpc(this, config.network)
    const built = 'folder' in images ? new BuiltImages(this, 'Images', { config, folder: images.folder }) : null
    const repository = 'repository' in images ? images.repository : (built as BuiltImages).repository
    const groups = new SecurityGroups(this, 'Walls', {
      vpc,
      prefixLists: prefixLists(this, { s3: s3PrefixListId, dynamodb: dynamodbPrefixListId }),
    })
    this.executionRole = createTaskExecutionRole(this, repository)
    const access = runAccess(data)
    this.runRole = new WorkerRole(this, 'RunRole', {
      functionName: functionName(config.stage, 'run'),
      access: access.all,
      isInVpc: true,
    }).role

    new ImageEndpoints(this, 'ImageEndpoints', {
      vpc,
      subnets: sandboxSubnets,
      endpointSubnets: sandboxSubnets.slice(0, endpointZones),
      securityGroup: groups.imageEndpoints,
      repository,
      executionRole: this.executionRole,
    })
    new RunEndpoints(this, 'RunEndpoints', {
      vpc,
      subnets: runSubnets,
      endpointSubnets: runSubnets.slice(0, endpointZones),
      securityGroup: groups.queueEndpoint,
      role: this.runRole,
      access,
    })
    if (network === undefined && config.network.zoneIds !== undefined)
      new CfnOutput(this, 'ZoneIds', { value: config.network.zoneIds.join(',') })
    this.builtImages = built?.uris ?? null
    this.allowedDnsNames = this.dnsNamesOf(data)
    this.vpc = vpc
    this.sandboxSubnets = sandboxSubnets
    this.runSubnets = runSubnets
    this.sandboxGroup = groups.sandbox
    this.runGroup = groups.run
  }

  /** The image pull, and the run worker's table, bucket and queues. */
  private dnsNamesOf(data: DataStack): string[] {
    const { account, region } = this
    return [
      `api.ecr.${region}.amazonaws.com`,
      `${account}.dkr.ecr.${region}.amazonaws.com`,
      `${layerBucketName(region)}.s3.${region}.amazonaws.com`,
      `dynamodb.${region}.amazonaws.com`,
      `${data.bucket.bucketName}.s3.${region}.amazonaws.com`,
      `sqs.${region}.amazonaws.com`,
    ]
  }
}
