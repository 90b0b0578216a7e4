import { singleImage, type BuiltInImage } from '../../../services/model/containers/images.ts'
import { DescribeTaskDefinitionCommand, type ECSClient } from '@aws-sdk/client-ecs'
import type { CodeDeployClient } from '@aws-sdk/client-codedeploy'
import type { ECRClient } from '@aws-sdk/client-ecr'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { IAMClient } from '@aws-sdk/client-iam'
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import type { ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import type { Config } from '../../../infra/config.ts'
import { repositoryTag } from '../../../infra/build/image-inputs.ts'
import { layerBucketName } from '../../../infra/constructs/image-endpoints.ts'
import { MEMORY_TIERS, type MemoryTier } from '../../../services/model/limits.ts'
import { createFargateDriver, type FargateDriverOptions } from '../../../services/adapters/drivers/fargate/fargate-driver.ts'
import { NO_OBJECTS } from '../../cli/rows-only.ts'
import { createDynamoTable } from '../../../services/adapters/storage/dynamodb/dynamo-table.ts'
import { fail, ok, warn, type Finding } from '../finding.ts'
import { NotDeployedError, readDeployed, type Deployed } from './deployed.ts'
import { checkDnsFirewall } from './dns-firewall-check.ts'
import { checkNetworkGateway } from './network-gateway-check.ts'
import { checkCanary } from './canary-check.ts'
import { checkBackups, checkEntry, checkOrigin, checkServiceRole } from './standing-checks.ts'
import { checkNetwork, checkSandbox, type PollOptions } from './probe-tasks.ts'
import { programsFor } from './hostile-programs.ts'
import { checkPublicSide } from './public-checks.ts'
import { checkQuotas, quotasFor } from './quotas.ts'
import { checkOtherContainers, checkOtherEndpoints } from './additions-check.ts'
import type { Ec2Api } from './ec2-api.ts'
import type { ResolverApi } from './resolver-api.ts'
import type { Api } from './service-calls.ts'
import { checkService } from './service-checks.ts'
import { checkTaskEvents } from './task-events-check.ts'
import { checkStoredImages } from './stored-images-check.ts'
import { checkWarmPool } from './warm-pool-check.ts'

export interface AccountDoctorOptions {
  readonly config: Config
  readonly region: string
  readonly clients: {
    readonly stacks: CloudFormationClient
    readonly ecs: ECSClient
    readonly images: ECRClient
    readonly quotas: ServiceQuotasClient
    readonly tables: DynamoDBClient
    readonly roles: IAMClient
    readonly releases: CodeDeployClient
    readonly resolver: ResolverApi
    readonly ec2: Pick<Ec2Api, 'endpoints' | 'peers'>
  }
  /** Creates a signed upload link for this bucket, and deletes the upload. */
  readonly upload: { link(bucket: string): Promise<string>; remove(bucket: string): Promise<void> }
  /** The image that this clone builds, `name:tag`. */
  readonly image: string
  readonly api: Api | null
  /** Also runs the check that takes more than two minutes. */
  readonly isLong: boolean
  readonly poll: PollOptions
  /** Called for each finding at once, because a start takes a minute. */
  readonly onFinding: (finding: Finding) => void
}

/** Gateways for layers, objects and table; interfaces for ECR twice and SQS. */
const ENDPOINTS = 6

/** Checks that the deployment in this account is complete, has quota, and isolates its sandboxes. Starts two tasks and stops them. */
export async function checkAccount(options: AccountDoctorOptions): Promise<readonly Finding[]> {
  const { config, clients, onFinding, poll } = options
  const findings: Finding[] = []
  const report = (...found: readonly Finding[]): void => {
    for (const finding of found) onFinding(finding)
    findings.push(...found)
  }
  report(...(await checkQuotas(clients.quotas, quotasFor(config))))
  let deployed: Deployed
  try {
    deployed = await readDeployed(clients.stacks, config.stage, defaultImageOf(config))
  } catch (error) {
    report(fail('Stacks', error instanceof NotDeployedError ? error.message : `CloudFormation did not answer: ${String(error)}`))
    return findings
  }
  report(ok('Stacks', `stage ${config.stage} in ${options.region}`), checkEndpoints(deployed))
  report(await checkOtherEndpoints(clients.ec2, deployed), await checkOtherContainers(clients.ecs, deployed))
  report(await checkServiceRole(clients.roles), await checkDnsFirewall(clients.resolver, deployed))
  report(await checkEntry(config, deployed), await checkOrigin(deployed))
  const tableName = config.data.tableName ?? deployed.table
  const { sandboxes, attachments } = createDynamoTable({ client: clients.tables, tableName, objects: NO_OBJECTS })
  report(await checkNetworkGateway({ config, ec2: clients.ec2, attachments, deployed, now: poll.now() }))
  report(await checkCanary(clients.releases, config), await checkBackups(clients.tables, tableName))
  const tier = MEMORY_TIERS.find((one) => deployed.taskDefinitions[one] !== undefined)
  if (tier === undefined) {
    report(fail('Image', 'There is no task definition for any memory tier. Run npm run deploy again.'))
    return findings
  }
  const image = await imageOf(clients.ecs, deployed, tier)
  report(checkImage(image, options.image, config), await checkStoredImages(clients, deployed))

  const fargate: FargateDriverOptions = {
    ecs: clients.ecs,
    cluster: deployed.cluster,
    images: singleImage(image, defaultImageOf(config)),
    taskDefinitions: { [defaultImageOf(config)]: deployed.taskDefinitions },
    subnets: deployed.subnets,
    securityGroups: [deployed.sandboxGroup],
    pollMs: poll.pollMs,
  }
  const driver = createFargateDriver(fargate)
  report(await checkWarmPool({ sandboxes, driver, settings: config.sandboxes }))
  report(await checkSandbox(driver, tier, poll))
  const environment = { CELLBLOCK_PROBE: JSON.stringify(await probeTargets(options, deployed)) }
  report(...(await checkNetwork(createFargateDriver({ ...fargate, probe: { command: ['probe-network'], environment } }), tier, poll)))
  await options.upload.remove(deployed.bucket).catch(() => undefined)
  if (options.api === null) {
    report(warn('Worker', 'The checks through the service were not run: set CELLBLOCK_URL and CELLBLOCK_API_KEY of the deployment.'))
    return findings
  }
  await checkService({
    api: options.api,
    programs: programsFor(options.region),
    isLong: options.isLong,
    checkTaskEvents: () => checkTaskEvents({ sandboxes, ecs: clients.ecs, cluster: deployed.cluster }),
    report,
  })
  report(...(await checkPublicSide(options.api, config.api)))
  return findings
}

/** The image of a container that names none. */
export const defaultImageOf = ({ sandboxes }: Pick<Config, 'sandboxes'>): BuiltInImage => sandboxes.images[0] ?? 'standard'

function checkEndpoints({ endpoints }: Deployed): Finding {
  const broken = endpoints.filter(({ status }) => !/^(CREATE|UPDATE)_COMPLETE$/.test(status))
  if (broken.length > 0)
    return fail('Endpoints', `${broken.map(({ name, status }) => `${name} is ${status}`).join(', ')}. Run npm run deploy again.`)
  return endpoints.length === ENDPOINTS
    ? ok('Endpoints', `${ENDPOINTS} exist`)
    : fail('Endpoints', `${endpoints.length} exist; the templates create ${ENDPOINTS}. Run npm run deploy again.`)
}

async function imageOf(ecs: ECSClient, { taskDefinitions }: Deployed, tier: MemoryTier): Promise<string> {
  const { taskDefinition } = await ecs.send(new DescribeTaskDefinitionCommand({ taskDefinition: taskDefinitions[tier] }))
  return taskDefinition?.containerDefinitions?.[0]?.image ?? ''
}

function checkImage(deployed: string, local: string, { deployment }: Pick<Config, 'deployment'>): Finding {
  const tag = (image: string): string => image.slice(image.lastIndexOf(':') + 1)
  // The CDK and CodeBuild tag by the hash of the whole build context.
  if (deployment.imageBuilder === 'codebuild' || deployed.includes('container-assets'))
    return ok(
      'Image',
      `${tag(deployed)}, built by ${deployment.imageBuilder === 'codebuild' ? 'CodeBuild' : 'the CDK'}; not compared with this clone`,
    )
  return tag(deployed) === repositoryTag(local)
    ? ok('Image', `${tag(deployed)}, the image of this clone`)
    : warn('Image', `${tag(deployed)} is deployed; this clone builds ${repositoryTag(local)}. Run npm run deploy to update it.`)
}

/** Addresses that must not answer from the sandbox subnets. */
async function probeTargets({ region, upload }: AccountDoctorOptions, { bucket }: Deployed): Promise<object> {
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
