import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets'
import { ContainerImage, CpuArchitecture, FargateTaskDefinition, LogDriver, OperatingSystemFamily } from 'aws-cdk-lib/aws-ecs'
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import type { DeploymentAssets } from '../assets.ts'
import type { Config } from '../config.ts'
import { toPolicyStatement, type IamAccess } from '../iam-statements.ts'
import type { RemoteBuilds } from './remote-builds.ts'

/** Where the API listens in its task. */
export const API_PORT = 8080

/** What the image runs, and whose permissions it has. */
const TASKS = {
  uploads: { purpose: 'permissions of the upload service, those of the API', command: undefined },
  api: { purpose: 'permissions of the API', command: undefined },
  network: { purpose: 'permissions of the network gateway', command: ['node', '/app/gateway/index.mjs'] },
} as const

export interface ApiTaskProps {
  readonly config: Pick<Config, 'stage' | 'retention'>
  /** Part of the names of the task definition and the log group. */
  readonly name: keyof typeof TASKS
  readonly size: { readonly cpu: number; readonly memoryMiB: number }
  /** The variables of the API's function, or those of the gateway. */
  readonly environment: Readonly<Record<string, string>>
  /** The permissions of the API's function, or those of the gateway. */
  readonly access: readonly IamAccess[]
  readonly assets: Pick<DeploymentAssets, 'uploadContext'>
  /** Builds the image. Null: the CDK does, with Docker. */
  readonly builds: RemoteBuilds | null
}

/** The API, or the network gateway, as a Fargate task on ARM with its own role and log group. Docker only copies the bundles into the image. */
export function createApiTask(scope: Construct, props: ApiTaskProps): FargateTaskDefinition {
  const { config, name, size, environment, access } = props
  const family = `cellblock-${config.stage}-${name}`
  const logGroup = new LogGroup(scope, 'Log', {
    logGroupName: `/cellblock/${family}`,
    retention: config.retention.logDays,
    removalPolicy: RemovalPolicy.DESTROY,
  })
  const definition = new FargateTaskDefinition(scope, 'Task', {
    family,
    cpu: size.cpu,
    memoryLimitMiB: size.memoryMiB,
    runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
    taskRole: new Role(scope, 'Role', {
      description: `Cellblock: ${TASKS[name].purpose}`,
      assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com'),
      inlinePolicies: { access: new PolicyDocument({ statements: access.map(toPolicyStatement) }) },
    }),
  })
  const { command } = TASKS[name]
  definition.addContainer('api', {
    image: apiImage(scope, props),
    ...(command === undefined
      ? { environment: { ...environment, PORT: String(API_PORT) }, portMappings: [{ containerPort: API_PORT }] }
      : { environment: { ...environment }, command: [...command] }),
    logging: LogDriver.awsLogs({ logGroup, streamPrefix: 'api' }),
    readonlyRootFilesystem: true,
    stopTimeout: Duration.seconds(120),
  })
  return definition
}

function apiImage(scope: Construct, { name, assets, builds }: Pick<ApiTaskProps, 'name' | 'assets' | 'builds'>): ContainerImage {
  const context = assets.uploadContext({ isBundled: Stack.of(scope).bundlingRequired })
  // The asset copies the folder into the output of the synthesis.
  const image =
    builds === null
      ? ContainerImage.fromDockerImageAsset(
          new DockerImageAsset(scope, 'Image', { directory: context.folder, platform: Platform.LINUX_ARM64 }),
        )
      : ContainerImage.fromEcrRepository(
          builds.repository,
          builds.build({ name: name === 'network' ? name : 'api', folder: context.folder, platform: 'linux/arm64' }),
        )
  context.remove()
  return image
}
