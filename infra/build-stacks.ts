import { BOOTSTRAP_QUALIFIER_CONTEXT, Tags, type App } from 'aws-cdk-lib'
import { ManagedPolicy, PermissionsBoundary } from 'aws-cdk-lib/aws-iam'
import type { Config } from './config.ts'
import { DataStack } from './stacks/data-stack.ts'
import { GuardStack } from './stacks/guard-stack.ts'
import { ImageStack } from './stacks/image-stack.ts'
import { NetworkStack } from './stacks/network-stack.ts'
import { OperationsStack } from './stacks/operations-stack.ts'
import { ServiceStack } from './stacks/service-stack.ts'

export interface Stacks {
  readonly data: DataStack
  readonly image: ImageStack
  readonly network: NetworkStack
  readonly guard: GuardStack
  readonly service: ServiceStack
  readonly operations: OperationsStack
}

export interface BuildOptions {
  readonly toolTypes?: readonly string[]
  /** The Data stack deletes its data. */
  readonly removesData?: boolean
}

/**
 * The whole deployment. `imageTag` is the content hash of the sandbox image, used unless the configuration names a tag. `removesData` makes the
 * Data stack delete its data. Synthesis looks nothing up in the account, so every machine produces the same templates.
 */
export function buildStacks(
  app: App,
  config: Config,
  imageTag: string,
  { toolTypes = [], removesData = false }: BuildOptions = {},
): Stacks {
  const stack = (part: string) => `Cellblock-${config.stage}-${part}`
  const { bootstrapQualifier, permissionsBoundary } = config.deployment
  if (bootstrapQualifier !== undefined) app.node.setContext(BOOTSTRAP_QUALIFIER_CONTEXT, bootstrapQualifier)
  const data = new DataStack(app, stack('Data'), {
    config,
    removesData,
    description: 'Cellblock: table, objects, queues and secrets (retained)',
  })
  const image = new ImageStack(app, stack('Image'), {
    stage: config.stage,
    description: 'Cellblock: repository of the sandbox image',
  })
  const network = new NetworkStack(app, stack('Network'), {
    config,
    data,
    repository: image.repository,
    description: 'Cellblock: isolated network of the sandboxes',
  })
  const guard = new GuardStack(app, stack('Guard'), {
    data,
    network,
    description: 'Cellblock: DNS firewall and flow logs of that network',
  })
  const sandboxImage = config.sandboxes.imageUri ?? image.repository.repositoryUriForTag(config.sandboxes.imageTag ?? imageTag)
  const service = new ServiceStack(app, stack('Service'), {
    config,
    image: sandboxImage,
    toolTypes,
    data,
    network,
    description: 'Cellblock: API, workers and sandboxes',
  })
  // No sandbox starts before the DNS firewall exists.
  service.addStackDependency(guard)
  const operations = new OperationsStack(app, stack('Operations'), {
    config,
    data,
    guard,
    service,
    description: 'Cellblock: dashboard, alarms and budget',
  })
  if (permissionsBoundary !== undefined)
    PermissionsBoundary.of(app).apply(ManagedPolicy.fromManagedPolicyName(data, 'PermissionsBoundary', permissionsBoundary))
  Tags.of(app).add('cellblock:stage', config.stage)
  return { data, image, network, guard, service, operations }
}
