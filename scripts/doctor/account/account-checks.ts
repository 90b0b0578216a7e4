import { DescribeTaskDefinitionCommand, type ECSClient } from '@aws-sdk/client-ecs'
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import type { ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import type { Config } from '../../../infra/config.ts'
import { layerBucketName } from '../../../infra/constructs/image-endpoints.ts'
import { MEMORY_TIERS, type MemoryTier } from '../../../services/core/limits.ts'
import { createFargateDriver, type FargateDriverOptions } from '../../../services/orchestrator/drivers/fargate/fargate-driver.ts'
import { fail, ok, warn, type Finding } from '../finding.ts'
import { NotDeployed, readDeployed, type Deployed } from './deployed.ts'
import { checkNetwork, checkSandbox, type TaskWatch } from './probe-tasks.ts'
import { checkPrograms, programsFor } from './programs.ts'
import { checkQuotas, quotasFor } from './quotas.ts'

export interface AccountDoctorOptions {
  readonly config: Config
  readonly region: string
  readonly clients: { readonly stacks: CloudFormationClient; readonly ecs: ECSClient; readonly quotas: ServiceQuotasClient }
  /** A signed link that uploads to this bucket, and what takes the upload away again. */
  readonly upload: { link(bucket: string): Promise<string>; remove(bucket: string): Promise<void> }
  /** The image that this clone makes, `name:tag`. */
  readonly image: string
  readonly api: { readonly url: string; readonly key: string } | null
  readonly watch: TaskWatch
  /** Hears each finding as it comes: a start takes a minute. */
  readonly say: (finding: Finding) => void
}

/** Gateways for layers, objects and table; interfaces for ECR twice and SQS. */
const ENDPOINTS = 6

/** Whether the deployment in this account is whole, has room, and keeps its sandboxes in. Starts two tasks and stops them. */
export async function checkAccount(options: AccountDoctorOptions): Promise<readonly Finding[]> {
  const { config, clients, say, watch } = options
  const findings: Finding[] = []
  const tell = (...found: readonly Finding[]): void => {
    for (const finding of found) say(finding)
    findings.push(...found)
  }
  tell(...(await checkQuotas(clients.quotas, quotasFor(config))))
  let deployed: Deployed
  try {
    deployed = await readDeployed(clients.stacks, config.stage)
  } catch (error) {
    tell(fail('Stacks', error instanceof NotDeployed ? error.message : `CloudFormation did not answer: ${String(error)}`))
    return findings
  }
  tell(ok('Stacks', `stage ${config.stage} in ${options.region}`), checkEndpoints(deployed))
  const tier = MEMORY_TIERS.find((one) => deployed.taskDefinitions[one] !== undefined)
  if (tier === undefined) {
    tell(fail('Image', 'There is no task definition for any memory tier. Run npm run deploy again.'))
    return findings
  }
  const image = await imageOf(clients.ecs, deployed, tier)
  tell(checkImage(image, options.image))

  const fargate: FargateDriverOptions = {
    ecs: clients.ecs,
    cluster: deployed.cluster,
    image,
    taskDefinitions: deployed.taskDefinitions,
    subnets: deployed.subnets,
    securityGroups: [deployed.sandboxGroup],
    pollMs: watch.pollMs,
  }
  tell(await checkSandbox(createFargateDriver(fargate), tier, watch))
  const environment = { CELLBLOCK_PROBE: JSON.stringify(await targetsOf(options, deployed)) }
  tell(...(await checkNetwork(createFargateDriver({ ...fargate, probe: { command: ['probe-network'], environment } }), tier, watch)))
  await options.upload.remove(deployed.bucket).catch(() => undefined)
  tell(
    options.api === null
      ? warn('Worker', 'The hostile programs were not tried: set CELLBLOCK_URL and CELLBLOCK_API_KEY of the deployment.')
      : await checkPrograms(options.api, programsFor(options.region)),
  )
  return findings
}

function checkEndpoints({ endpoints }: Deployed): Finding {
  const broken = endpoints.filter(({ status }) => !/^(CREATE|UPDATE)_COMPLETE$/.test(status))
  if (broken.length > 0)
    return fail('Endpoints', `${broken.map(({ name, status }) => `${name} is ${status}`).join(', ')}. Run npm run deploy again.`)
  return endpoints.length === ENDPOINTS
    ? ok('Endpoints', `${ENDPOINTS} stand`)
    : fail('Endpoints', `${endpoints.length} stand; the templates make ${ENDPOINTS}. Run npm run deploy again.`)
}

async function imageOf(ecs: ECSClient, { taskDefinitions }: Deployed, tier: MemoryTier): Promise<string> {
  const { taskDefinition } = await ecs.send(new DescribeTaskDefinitionCommand({ taskDefinition: taskDefinitions[tier] }))
  return taskDefinition?.containerDefinitions?.[0]?.image ?? ''
}

function checkImage(deployed: string, ours: string): Finding {
  const tag = (image: string): string => image.slice(image.lastIndexOf(':') + 1)
  return tag(deployed) === tag(ours)
    ? ok('Image', `${tag(deployed)}, as this clone makes it`)
    : warn('Image', `${tag(deployed)} is deployed; this clone makes ${tag(ours)}. Run npm run deploy to bring them together.`)
}

/** What the probe knocks at: nothing of it may answer from where sandboxes are. */
async function targetsOf({ region, upload }: AccountDoctorOptions, { bucket }: Deployed): Promise<object> {
  const ecs = 'http://169.254.170.2'
  return {
    internet: [
      ['1.1.1.1', 443],
      ['8.8.8.8', 53],
      ['169.254.169.254', 80],
    ],
    name: 'example.com',
    resolvers: [
      ['169.254.169.253', 53],
      ['fd00:ec2::253', 53],
      ['8.8.8.8', 53],
    ],
    credentials: [`${ecs}/v2/credentials`, `${ecs}/v2/credentials/`, 'http://169.254.169.254/latest/meta-data/iam/security-credentials/'],
    put_url: await upload.link(bucket),
    put_via: [`${layerBucketName(region)}.s3.${region}.amazonaws.com`, 443],
    neighbours: [
      [`sqs.${region}.amazonaws.com`, 443],
      [`dynamodb.${region}.amazonaws.com`, 443],
    ],
  }
}
