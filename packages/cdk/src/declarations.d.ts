import type { Stack } from 'aws-cdk-lib'
import type { ISubnet, IVpc } from 'aws-cdk-lib/aws-ec2'
import type { IManagedPolicy } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'

export type MemoryTier = '1g' | '4g' | '16g' | '64g'
export type SandboxImage = 'slim' | 'standard' | 'full'

/** Warm pool of a tier: its size (`warm`), or the demand from which the size is computed (`arrivalsPerMinute`). */
export interface TierSettings {
  warm?: number
  warmMax?: number
  arrivalsPerMinute?: number
  startSeconds?: number
  waitSeconds?: number
  sharePercent?: number
}

/** An internal load balancer and tasks of the API instead of a distribution: no public entry. */
export interface PrivateIngressSettings {
  /** The only name that the API answers to; it has to resolve to the load balancer. */
  host: string
  /** In the Region of the deployment. */
  certificateArn: string
  /** The network, unless the construct gets `ingressNetwork`. */
  vpcId?: string
  subnetIds?: string[]
  /** Default: the private ranges. */
  clientCidrs?: string[]
  tasks?: number
  maxTasks?: number
  /** Of scope REGIONAL. */
  webAclArn?: string
}

/** The settings of docs/aws.md. A wrong value is an Error with one sentence. */
export interface CellblockSettings {
  /** Part of every name. */
  stage: string
  logLevel?: 'debug' | 'info' | 'warn' | 'error'
  sandboxes: {
    tiers: Partial<Record<MemoryTier, TierSettings>>
    images?: SandboxImage[]
    imagePools?: Partial<Record<SandboxImage, Partial<Record<MemoryTier, number>>>>
    earlySleepSeconds?: number
    architecture: 'X86_64' | 'ARM64'
    spotPercent?: number
    diskGiB?: number
  }
  models?: {
    list?: { name: string; baseUrl?: string; providerModel?: string; keyName?: string; contextWindow?: number }[]
    secretName?: string
  }
  tools?: { webSearch?: boolean }
  api?: {
    customDomain?: { name: string; certificateArn: string }
    corsOrigins?: string[]
    maxOpenStreams?: number
    reservedConcurrency?: number
    uploadService?: boolean
    webAclArn?: string
    rateLimit?: number
    privateIngress?: PrivateIngressSettings
  }
  network?: {
    cidr?: string
    endpointZones?: number
    zoneIds?: string[]
    s3PrefixListId?: string
    dynamodbPrefixListId?: string
    gateway?: boolean
  }
  deployment?: {
    bootstrapQualifier?: string
    permissionsBoundary?: string
    /** A new version of api, chat and run serves 10 % for this long, then everything unless an alarm went off. 0: at once. */
    canaryMinutes?: 0 | 5 | 10 | 15 | 30
    /** Where Docker builds the images: on the machine that deploys, or in CodeBuild. */
    imageBuilder?: 'docker' | 'codebuild'
  }
  data?: {
    /** A table that `npm run restore` has made of the backups of this deployment. */
    tableName?: string
  }
  retention?: { logDays?: 1 | 3 | 5 | 7 | 14 | 30 | 60 | 90 | 180 | 365; backupDays?: number }
  concurrency?: { chat?: number; run?: number; place?: number }
  operations: { monthlyBudgetUsd: number; alarmEmail?: string }
}

/** Where sandboxes and run workers run: subnets without a route to the internet, in a VPC that holds nothing else. */
export interface SandboxNetwork {
  readonly vpc: IVpc
  /** One per availability zone, with a route table that no other subnet uses. */
  readonly sandboxSubnets: ISubnet[]
  /** As many, with another route table. */
  readonly runSubnets: ISubnet[]
}

/** A network that clients reach, with subnets in two availability zones that have a way to AWS: a NAT gateway or endpoints. */
export interface IngressNetwork {
  readonly vpc: IVpc
  readonly subnets: ISubnet[]
}

export interface CellblockProps {
  readonly settings: CellblockSettings
  /** Default: a new isolated VPC of `settings.network.cidr`. The DNS firewall of the deployment binds the whole VPC. */
  readonly network?: SandboxNetwork
  /** Where the load balancer of `settings.api.privateIngress` is. Default: the network that these settings name. */
  readonly ingressNetwork?: IngressNetwork
  /** Default: a new key. The policy of the key must leave access to IAM, as the CDK's default policy does. */
  readonly encryptionKey?: IKey
  /** Bounds every role. Default: the policy that `settings.deployment.permissionsBoundary` names, if any. */
  readonly permissionsBoundary?: IManagedPolicy
  /** The Data stack deletes its data with the stack. */
  readonly removesData?: boolean
}

/**
 * Cellblock as stacks of the app or stage that contains this construct. Synthesis needs no network. The CDK builds the sandbox images with Docker when
 * it deploys.
 *
 * @example
 * new Cellblock(app, 'Cellblock', {
 *   settings: {
 *     stage: 'prod',
 *     sandboxes: { tiers: { '1g': { warm: 1 } }, architecture: 'X86_64' },
 *     operations: { monthlyBudgetUsd: 100 },
 *   },
 * })
 */
export declare class Cellblock extends Construct {
  /** By purpose; `image` (null if Docker builds the images) and `firewall` may be null. */
  readonly stacks: Readonly<Record<'data' | 'network' | 'guard' | 'service' | 'operations', Stack>> & {
    readonly image: Stack | null
    readonly firewall: Stack | null
  }
  constructor(scope: Construct, id: string, props: CellblockProps)
}
