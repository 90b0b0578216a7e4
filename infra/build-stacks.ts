import { Tags, type App } from 'aws-cdk-lib'
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

/**
 * The whole deployment. `imageTag` is the content hash of the sandbox image, for when the configuration names none; `toolTypes` are what its
 * tools are named by. With `removesData` the data goes with its stack. It asks no account anything: the same stacks come out on every machine.
 */
export function buildStacks(
  app: App,
  config: Config,
  imageTag: string,
  { toolTypes = [], removesData = false }: { readonly toolTypes?: readonly string[]; readonly removesData?: boolean } = {},
): Stacks {
  const stack = (part: string) => `Cellblock-${config.stage}-${part}`
  const data = new DataStack(app, stack('Data'), {
    config,
    removesData,
    description: 'Cellblock: table, objects, queues and secrets (kept)',
    terminationProtection: !removesData,
  })
  const image = new ImageStack(app, stack('Image'), { stage: config.stage, description: 'Cellblock: where the sandbox image lies' })
  const network = new NetworkStack(app, stack('Network'), {
    config,
    data,
    repository: image.repository,
    description: 'Cellblock: the network that sandboxes cannot leave',
  })
  const guard = new GuardStack(app, stack('Guard'), { data, network, description: 'Cellblock: what watches that network' })
  const sandboxImage = config.sandboxes.imageUri ?? image.repository.repositoryUriForTag(config.sandboxes.imageTag ?? imageTag)
  const service = new ServiceStack(app, stack('Service'), {
    config,
    image: sandboxImage,
    toolTypes,
    data,
    network,
    description: 'Cellblock: API, workers and sandboxes',
  })
  // No sandbox before its walls are up.
  service.addStackDependency(guard)
  const operations = new OperationsStack(app, stack('Operations'), {
    config,
    data,
    guard,
    service,
    description: 'Cellblock: dashboard, alarms and budget',
  })
  Tags.of(app).add('cellblock:stage', config.stage)
  return { data, image, network, guard, service, operations }
}
