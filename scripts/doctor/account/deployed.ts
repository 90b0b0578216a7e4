import {
  DescribeStacksCommand,
  paginateListStackResources,
  type CloudFormationClient,
  type StackResourceSummary,
} from '@aws-sdk/client-cloudformation'
import { MEMORY_TIERS, type MemoryTier } from '../../../services/model/limits.ts'

/** Deployed resources of a stage, as CloudFormation lists them. */
export interface Deployed {
  readonly cluster: string
  readonly subnets: readonly string[]
  readonly sandboxGroup: string
  readonly bucket: string
  readonly table: string
  /** Types of the resources of the service stack. */
  readonly serviceTypes: readonly string[]
  /** Of the API's function; null behind private ingress, and for versions that do not output it. */
  readonly functionUrl: string | null
  /** Id of the association of the DNS firewall with the sandboxes' network; null without the stack Guard. */
  readonly firewallAssociation: string | null
  /** Those of one image. */
  readonly taskDefinitions: Partial<Record<MemoryTier, string>>
  /** Those of all images and of the API's tasks. */
  readonly allTaskDefinitions: readonly string[]
  readonly endpoints: readonly { readonly id: string; readonly name: string; readonly status: string }[]
  /** The network of the sandboxes; null in an app that brings its own. */
  readonly vpc: string | null
  /** The connection of that network to the network gateway's; null without a gateway. */
  readonly peering: string | null
}

/** A missing or incomplete stack; the message says what to do. */
export class NotDeployedError extends Error {}

/** Reads the stacks of a stage, with the task definitions of `imageName`. Throws NotDeployedError. */
export async function readDeployed(client: CloudFormationClient, stage: string, imageName: string): Promise<Deployed> {
  const [network, service, data] = await Promise.all(
    ['Network', 'Service', 'Data'].map((part) => resourcesOf(client, `Cellblock-${stage}-${part}`)),
  )
  // Absent in emulated accounts; the check of the DNS firewall reports it.
  const guard = await resourcesOf(client, `Cellblock-${stage}-Guard`).catch((error: unknown) => {
    if (error instanceof NotDeployedError) return []
    throw error
  })
  const physical = (resources: readonly StackResourceSummary[] = [], type: string, logical = ''): string[] =>
    resources
      .filter(({ ResourceType, LogicalResourceId = '' }) => ResourceType === type && LogicalResourceId.includes(logical))
      .flatMap(({ PhysicalResourceId }) => PhysicalResourceId ?? [])
  const one = (found: readonly string[], what: string): string => {
    const [first] = found
    if (first === undefined) throw new NotDeployedError(`The stacks of ${stage} have no ${what}. Run npm run deploy again.`)
    return first
  }
  const definitions = physical(service, 'AWS::ECS::TaskDefinition')
  return {
    cluster: one(physical(service, 'AWS::ECS::Cluster', 'Sandboxes'), 'cluster'),
    subnets: physical(network, 'AWS::EC2::Subnet', 'sandbox'),
    sandboxGroup: one(physical(network, 'AWS::EC2::SecurityGroup', 'WallsSandbox'), 'security group of sandboxes'),
    bucket: one(physical(data, 'AWS::S3::Bucket', 'Objects'), 'bucket'),
    table: one(physical(data, 'AWS::DynamoDB::Table'), 'table'),
    serviceTypes: [...new Set((service ?? []).map(({ ResourceType = '' }) => ResourceType))],
    firewallAssociation: physical(guard, 'AWS::Route53Resolver::FirewallRuleGroupAssociation')[0] ?? null,
    functionUrl: await outputOf(client, `Cellblock-${stage}-Service`, 'FunctionUrl'),
    taskDefinitions: Object.fromEntries(
      MEMORY_TIERS.flatMap((tier) => definitions.filter((arn) => arn.includes(`-sandbox-${imageName}-${tier}:`)).map((arn) => [tier, arn])),
    ),
    allTaskDefinitions: definitions,
    endpoints: (network ?? [])
      .filter(({ ResourceType }) => ResourceType === 'AWS::EC2::VPCEndpoint')
      .map(({ LogicalResourceId = '', PhysicalResourceId = '', ResourceStatus = '' }) => ({
        id: PhysicalResourceId,
        name: LogicalResourceId,
        status: ResourceStatus,
      })),
    vpc: physical(network, 'AWS::EC2::VPC')[0] ?? null,
    peering: physical(service, 'AWS::EC2::VPCPeeringConnection')[0] ?? null,
  }
}

async function resourcesOf(client: CloudFormationClient, stack: string): Promise<StackResourceSummary[]> {
  const found: StackResourceSummary[] = []
  try {
    for await (const page of paginateListStackResources({ client }, { StackName: stack }))
      found.push(...(page.StackResourceSummaries ?? []))
  } catch (cause) {
    const { name, message } = cause instanceof Error ? cause : new Error(String(cause))
    if (name === 'ValidationError' && /does not exist/.test(message))
      throw new NotDeployedError(`There is no stack ${stack} in this account and Region. Run npm run deploy, or name another --stage.`, {
        cause,
      })
    throw cause
  }
  return found
}

async function outputOf(client: CloudFormationClient, stack: string, name: string): Promise<string | null> {
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }))
  return Stacks[0]?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue ?? null
}
