import { DefaultStackSynthesizer, type IStackSynthesizer, type Stack, Stage, type StackProps, Tags } from 'aws-cdk-lib'
import { type IManagedPolicy, ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import type { BuiltInImage } from '../services/model/containers/images.ts'
import type { DeploymentAssets, SandboxImages } from './assets.ts'
import { readConfig, type Config } from './config.ts'
import type { SandboxNetwork } from './constructs/isolated-vpc.ts'
import type { IngressNetwork } from './constructs/private-ingress.ts'
import { DataStack } from './stacks/data-stack.ts'
import { FirewallStack } from './stacks/firewall-stack.ts'
import { GuardStack } from './stacks/guard-stack.ts'
import { ImageStack } from './stacks/image-stack.ts'
import { NetworkStack } from './stacks/network-stack.ts'
import { OperationsStack } from './stacks/operations-stack.ts'
import { ServiceStack } from './stacks/service-stack.ts'

export interface Stacks {
  readonly data: DataStack
  /** Null if the CDK builds the images. */
  readonly image: ImageStack | null
  readonly network: NetworkStack
  readonly guard: GuardStack
  /** Null without `api.rateLimit`. */
  readonly firewall: FirewallStack | null
  readonly service: ServiceStack
  readonly operations: OperationsStack
}

export interface CellblockProps {
  /** The settings, as `context.cellblock` of cdk.json has them. Throws an Error with one sentence per wrong value. */
  readonly settings: unknown
  readonly assets: DeploymentAssets
  /** Tool types that requests may name. */
  readonly toolTypes?: readonly string[]
  /** An isolated VPC that holds nothing else: its DNS firewall resolves the names of the sandboxes only. Default: a new VPC of `network.cidr`. */
  readonly network?: SandboxNetwork
  /** The network of `api.privateIngress`, if its settings name none: clients reach it, and its subnets have a way to AWS. */
  readonly ingressNetwork?: IngressNetwork
  /** Default: a new key. Its policy must leave access to IAM, as the CDK's default policy does. */
  readonly encryptionKey?: IKey
  /** Bounds every role. Default: the policy that `deployment.permissionsBoundary` names, if any. */
  readonly permissionsBoundary?: IManagedPolicy
  /** The Data stack deletes its data with the stack. */
  readonly removesData?: boolean
}

/**
 * The whole deployment, as stacks of the app or stage that contains this construct. Synthesis looks nothing up in the account, so every machine
 * produces the same templates.
 */
export class Cellblock extends Construct {
  readonly stacks: Stacks

  constructor(scope: Construct, id: string, props: CellblockProps) {
    super(scope, id)
    const stage = Stage.of(this)
    if (stage === undefined) throw new Error('Cellblock must be in an App or a Stage.')
    this.stacks = buildStacks(stage, readConfig(props.settings), props)
  }
}

/** What every stack needs. */
interface Deployment {
  readonly app: Stage
  readonly config: Config
  readonly props: CellblockProps
}

function buildStacks(app: Stage, config: Config, props: CellblockProps): Stacks {
  const deployment = { app, config, props }
  const data = new DataStack(app, stackId(config, 'Data'), {
    config,
    removesData: props.removesData ?? false,
    encryptionKey: props.encryptionKey,
    ...bootstrap(config),
    description: 'Cellblock: table, objects, queues and secrets (retained)',
  })
  const image = imageStack(deployment)
  const network = networkStack(deployment, data, image)
  const guard = new GuardStack(app, stackId(config, 'Guard'), {
    data,
    network,
    ...bootstrap(config),
    description: 'Cellblock: DNS firewall and flow logs of that network',
  })
  const firewall = firewallStack(deployment)
  const service = serviceStack(deployment, { data, image, network, firewall })
  // No sandbox starts before the DNS firewall exists.
  service.addStackDependency(guard)
  if (firewall !== null) service.addStackDependency(firewall)
  const operations = new OperationsStack(app, stackId(config, 'Operations'), {
    config,
    data,
    guard,
    service,
    ...bootstrap(config),
    description: 'Cellblock: dashboard, alarms and budget',
  })
  const stacks = { data, image, network, guard, firewall, service, operations }
  applyToAll(stacks, deployment)
  return stacks
}

const stackId = ({ stage }: Config, part: string): string => `Cellblock-${stage}-${part}`

/** A synthesizer belongs to one stack. */
function bootstrap({ deployment: { bootstrapQualifier } }: Config): Pick<StackProps, 'synthesizer'> {
  if (bootstrapQualifier === undefined) return {}
  return { synthesizer: new DefaultStackSynthesizer({ qualifier: bootstrapQualifier }) as IStackSynthesizer }
}

/** Null if the CDK builds the images. */
function imageStack({ app, config, props }: Deployment): ImageStack | null {
  const source = imageSource(config, props.assets.images)
  if (source === 'docker-asset') return null
  return new ImageStack(app, stackId(config, 'Image'), {
    config,
    folder: source.folder,
    ...bootstrap(config),
    description: 'Cellblock: repository of the sandbox image',
  })
}

const networkStack = ({ app, config, props }: Deployment, data: DataStack, image: ImageStack | null): NetworkStack =>
  new NetworkStack(app, stackId(config, 'Network'), {
    config,
    data,
    images: image === null ? (props.assets.images as Extract<SandboxImages, { kind: 'built' }>) : { repository: image.repository },
    network: props.network,
    ...bootstrap(config),
    description: 'Cellblock: isolated network of the sandboxes',
  })

/** Null without `api.rateLimit`. */
function firewallStack({ app, config }: Deployment): FirewallStack | null {
  const { rateLimit } = config.api
  if (rateLimit === undefined) return null
  return new FirewallStack(app, stackId(config, 'Firewall'), {
    stage: config.stage,
    rateLimit,
    ...bootstrap(config),
    description: 'Cellblock: rate limit of each client address, in the Region of CloudFront',
  })
}

const serviceStack = (
  { app, config, props }: Deployment,
  { data, image, network, firewall }: Pick<Stacks, 'data' | 'image' | 'network' | 'firewall'>,
): ServiceStack =>
  new ServiceStack(app, stackId(config, 'Service'), {
    config,
    images: imageUris(config, { network, image, images: props.assets.images }),
    assets: props.assets,
    toolTypes: props.toolTypes ?? [],
    builds: image?.builds ?? null,
    webAclArn: firewall?.webAclArn ?? config.api.webAclArn,
    data,
    network,
    ingressNetwork: props.ingressNetwork,
    ...bootstrap(config),
    description: 'Cellblock: API, workers and sandboxes',
  })

/** Permissions boundary and tag. */
function applyToAll(stacks: Stacks, { config, props }: Deployment): void {
  const name = config.deployment.permissionsBoundary
  const boundary =
    props.permissionsBoundary ??
    (name === undefined ? undefined : ManagedPolicy.fromManagedPolicyName(stacks.data, 'PermissionsBoundary', name))
  for (const part of Object.values(stacks) as readonly (Stack | null)[]) {
    if (part === null) continue
    if (boundary !== undefined) PermissionsBoundary.of(part).apply(boundary)
    Tags.of(part).add('cellblock:stage', config.stage)
  }
}

/** Where the images come from: Docker assets of the CDK, or a repository with images that CodeBuild builds from a folder or the deploy command pushes. */
function imageSource({ deployment }: Config, images: SandboxImages): 'docker-asset' | { readonly folder: string | null } {
  if (deployment.imageBuilder === 'docker') return images.kind === 'built' ? 'docker-asset' : { folder: null }
  if (images.kind === 'pushed') throw new Error('deployment.imageBuilder is codebuild: the app needs the build context of the images.')
  return { folder: images.folder }
}

/** URI of each offered image by its name; the first is the default, which the settings may name themselves. */
function imageUris(
  config: Config,
  { network, image, images }: { readonly network: NetworkStack; readonly image: ImageStack | null; readonly images: SandboxImages },
): Readonly<Record<string, string>> {
  const { images: names, imageUri, imageTag } = config.sandboxes
  const uriOf = (name: BuiltInImage, isDefault: boolean): string => {
    if (isDefault && imageUri !== undefined) return imageUri
    const built = network.builtImages?.[name]
    if (built !== undefined) return built
    const tag = (isDefault ? imageTag : undefined) ?? image?.builtTags[name] ?? (images.kind === 'pushed' ? images.tags[name] : undefined)
    if (image === null || tag === undefined) throw new Error(`The image ${name} is not built.`)
    return image.repository.repositoryUriForTag(tag)
  }
  return Object.fromEntries(names.map((name, place) => [name, uriOf(name, place === 0)]))
}
