import type { ApiEnv } from '../services/entries/aws/api/config.ts'
import type { OriginEnv } from '../services/http/origin/config.ts'
import type { ChatEnv } from '../services/entries/aws/chat/config.ts'
import type { QueueName } from '../services/model/messages.ts'
import type { GatewayEnv } from '../services/entries/aws/gateway/config.ts'
import type { PlaceEnv, RunEnv } from '../services/entries/aws/config.ts'
import type { FargateEnv } from '../services/adapters/drivers/fargate/config.ts'
import { OPEN_CALLS, TASK_STREAMS, type Config } from './config.ts'
import { TOOLS_IN_BUNDLE } from './function-name.ts'
import type { Sandboxes } from './constructs/sandboxes.ts'
import type { DataResources } from './data-resources.ts'
import type { ISecurityGroup, ISubnet } from 'aws-cdk-lib/aws-ec2'

/** Whether containers can get a policy. */
const networkEnvironment = ({ network }: Config) => ({ NETWORK_GATEWAY: network.gateway ? ('on' as const) : ('off' as const) })

/** Lambda sets the Region itself and refuses to have it set. */
type Set<Env> = Omit<Env, 'AWS_REGION'>

/** The names and addresses of the data, for every function. */
export function storageEnvironment(config: Config, data: DataResources) {
  const queueUrl = (name: QueueName) => data.queues[name].queue.queueUrl
  return {
    STAGE: config.stage,
    LOG_LEVEL: config.logLevel,
    TABLE_NAME: data.table.tableName,
    BUCKET_NAME: data.bucket.bucketName,
    TURNS_QUEUE_URL: queueUrl('turns'),
    EXECUTIONS_QUEUE_URL: queueUrl('executions'),
    PLACEMENTS_QUEUE_URL: queueUrl('placements'),
  }
}
type StorageEnvironment = ReturnType<typeof storageEnvironment>

/** The value of CELLBLOCK_MODELS. It names keys; the chat worker reads their values from the models secret. */
const modelList = (config: Config): string =>
  JSON.stringify(
    config.models.list.map(({ name, baseUrl, providerModel, keyName, contextWindow }) => ({
      name,
      base_url: baseUrl,
      api_key_env: keyName,
      ...(providerModel === undefined ? {} : { model: providerModel }),
      ...(contextWindow === undefined ? {} : { context_window: contextWindow }),
    })),
  )

/** How requests reach the API. */
function entryEnvironment({ privateIngress, customDomain, uploadService }: Config['api']) {
  if (privateIngress !== undefined) {
    const { host } = privateIngress
    // A load balancer passes on `X-Forwarded-Host` as the client wrote it.
    return { INGRESS: 'load_balancer' as const, TRUST_PROXY: 'false' as const, PUBLIC_URL: `https://${host}`, ALLOWED_HOSTS: host }
  }
  return {
    // Only the distribution knows the origin secret, and it overwrites the forwarded headers.
    TRUST_PROXY: 'true' as const,
    ...(customDomain === undefined ? {} : { PUBLIC_URL: `https://${customDomain.name}` }),
    UPLOAD_SERVICE: uploadService ? ('true' as const) : ('false' as const),
  }
}

export const apiEnvironment = (
  config: Config,
  storage: StorageEnvironment,
  {
    originSecretArn,
    siteBucket,
    toolTypes,
  }: { readonly originSecretArn: string; readonly siteBucket: string; readonly toolTypes: readonly string[] },
) =>
  ({
    ...storage,
    ...networkEnvironment(config),
    ...entryEnvironment(config.api),
    ORIGIN_SECRET_ARN: originSecretArn,
    SITE_BUCKET: siteBucket,
    IMAGE_NAMES: config.sandboxes.images.join(','),
    TOOL_TYPES: toolTypes.join(','),
    MAX_OPEN_STREAMS: String(config.api.maxOpenStreams ?? TASK_STREAMS),
    MEMORY_TIERS: Object.keys(config.sandboxes.tiers).join(','),
    CORS_ORIGINS: config.api.corsOrigins.join(','),
    MODEL_NAMES: config.models.list.length === 0 ? 'demo' : config.models.list.map(({ name }) => name).join(','),
  }) satisfies Set<ApiEnv> & OriginEnv

/** A function serves one call at a time, so the calls that stay open are counted in the table. */
export const openCallsOf = ({ maxOpenStreams, reservedConcurrency }: Config['api']): number =>
  maxOpenStreams ?? reservedConcurrency ?? OPEN_CALLS

export const chatEnvironment = (config: Config, storage: StorageEnvironment, data: DataResources) =>
  ({
    ...storage,
    MODELS_SECRET_ARN: data.modelsSecret.secretArn,
    CELLBLOCK_MODELS: modelList(config),
    CONCURRENT_STEPS: String(config.concurrency.chat),
    ...(config.tools.folder === undefined ? {} : { CELLBLOCK_TOOLS: `/var/task/${TOOLS_IN_BUNDLE}` }),
  }) satisfies Set<ChatEnv>

/** What determines the price of a sandbox. */
const sandboxShape = ({ sandboxes: { architecture, diskGiB, tiers } }: Pick<Config, 'sandboxes'>) => {
  const chosen = Object.entries(tiers).flatMap(([tier, { vcpu }]) => (vcpu === undefined ? [] : [[tier, vcpu] as const]))
  return {
    SANDBOX_ARCHITECTURE: architecture,
    SANDBOX_DISK_GIB: String(diskGiB),
    ...(chosen.length === 0 ? {} : { SANDBOX_VCPUS: JSON.stringify(Object.fromEntries(chosen)) }),
  }
}

export const runEnvironment = (config: Config, storage: StorageEnvironment, images: string) =>
  ({
    ...storage,
    ...networkEnvironment(config),
    SANDBOX_IMAGES: images,
    ...sandboxShape(config),
    // The DNS firewall allows DynamoDB's regional name only, not the names per account.
    AWS_ACCOUNT_ID_ENDPOINT_MODE: 'disabled',
  }) satisfies Set<RunEnv> & { AWS_ACCOUNT_ID_ENDPOINT_MODE: string }

export const gatewayEnvironment = (storage: StorageEnvironment, keysArn: string) =>
  ({ ...storage, NETWORK_KEYS_ARN: keysArn }) satisfies Set<GatewayEnv>

/** Where sandboxes get their addresses. */
interface SandboxNetwork {
  readonly sandboxSubnets: readonly ISubnet[]
  readonly sandboxGroup: ISecurityGroup
  toJsonString(value: unknown): string
}

export const placeEnvironment = (
  config: Config,
  {
    storage,
    network,
    sandboxes,
  }: { readonly storage: StorageEnvironment; readonly network: SandboxNetwork; readonly sandboxes: Sandboxes },
) =>
  ({
    ...storage,
    SANDBOX_DRIVER: 'fargate',
    SANDBOX_IMAGES: network.toJsonString(sandboxes.images),
    ...sandboxShape(config),
    CLUSTER_ARN: sandboxes.clusterArn,
    SUBNET_IDS: network.sandboxSubnets.map(({ subnetId }) => subnetId).join(','),
    SECURITY_GROUP_IDS: network.sandboxGroup.securityGroupId,
    TASK_DEFINITIONS: network.toJsonString(sandboxes.taskDefinitions),
    POOL_SIZES: JSON.stringify(Object.fromEntries(Object.entries(config.sandboxes.tiers).map(([tier, { warm }]) => [tier, warm]))),
    IMAGE_POOL_SIZES: JSON.stringify(config.sandboxes.imagePools),
    HIBERNATE_AFTER_SECONDS: String(config.sandboxes.hibernateAfterSeconds),
    EARLY_SLEEP_SECONDS: String(config.sandboxes.earlySleepSeconds),
    POOL_CEILINGS: JSON.stringify(
      Object.fromEntries(
        Object.entries(config.sandboxes.tiers).flatMap(([tier, { warmMax }]) => (warmMax === undefined ? [] : [[tier, warmMax]])),
      ),
    ),
  }) satisfies Set<PlaceEnv & FargateEnv>
