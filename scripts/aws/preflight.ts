import { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import type { Config } from '../../infra/config.ts'
import { modelsSecretName } from '../../infra/constructs/models-secret.ts'
import { reservesWorkers } from './worker-concurrency.ts'
import { createEc2Api, type Ec2Api, type Zone } from '../doctor/account/ec2-api.ts'
import { checkQuotas, quotasFor, type Quota } from '../doctor/account/quotas.ts'
import { fail, warn, type Finding } from '../doctor/finding.ts'
import { SetupError } from '../setup/progress.ts'
import { outputsOf, type Account } from './account.ts'
import type { Deployment } from './deployment.ts'

/** Zones where CloudFront reaches no load balancer by a VPC origin (CloudFront Developer Guide), and those without Fargate. */
const ZONES_WITHOUT: Readonly<Record<'vpcOrigins' | 'fargate', readonly string[]>> = {
  vpcOrigins: ['use1-az3', 'usw1-az2', 'apne1-az3', 'cac1-az3'],
  fargate: ['usw1-az2', 'apne1-az3'],
}

/** The templates' assets need this version of the CDK's bootstrap stack. */
const BOOTSTRAP_VERSION = 6

/**
 * Checks the account before the first stack, because what it lacks stops a deployment in its last stack, after twenty minutes. Returns the deployment in
 * zones that serve it. Throws a SetupError that says what to request; the account is unchanged then.
 */
export async function preflight(deployment: Deployment, account: Pick<Account, 'region' | 'bootstrapVersion'>): Promise<Deployment> {
  const { config, sdk, progress } = deployment
  const { region } = account
  const stacks = new CloudFormationClient(sdk)
  const ec2 = createEc2Api({ region, credentials: stacks.config.credentials, endpoint: sdk.endpoint })
  const [data, network, service] = await Promise.all([
    createdOutputs(deployment, 'Data'),
    createdOutputs(deployment, 'Network'),
    createdOutputs(deployment, 'Service'),
  ])
  const zones = await selectZones(config, { ec2, network })
  const vpcs = await vpcQuota(config, { ec2, isNew: { network: network === null, service: service === null } })
  const reserved = await reservesWorkers(config, {
    lambda: { region, credentials: stacks.config.credentials, endpoint: sdk.endpoint },
    service,
  })
  const quotas = [...quotasFor(config), ...('quota' in vpcs ? [vpcs.quota] : [])]
  const findings = [
    ...(await checkQuotas(new ServiceQuotasClient({ ...sdk, maxAttempts: 2 }), quotas)),
    ...('finding' in vpcs ? [vpcs.finding] : []),
    ...('finding' in zones ? [zones.finding] : []),
    ...(typeof reserved === 'boolean' ? [] : [reserved]),
    ...bootstrapFindings(account.bootstrapVersion),
    ...(data === null ? await retainedSecretFindings(deployment) : []),
  ]
  const failed = findings.filter(({ outcome }) => outcome === 'fail')
  if (failed.length > 0)
    throw new SetupError(`This account cannot take the deployment yet. Nothing was changed.\n${failed.map(sentence).join('\n')}`)
  for (const finding of findings) if (finding.outcome === 'warn') progress(sentence(finding))
  if (service === null && config.api.privateIngress === undefined)
    progress(
      'AWS has to verify a new account before it creates a CloudFront distribution, and no API tells whether it has: if the Service stack fails with "must be verified", ask AWS Support and run the command again.',
    )
  const checked = reserved === true ? reserving(deployment) : deployment
  if (!('zoneIds' in zones)) return checked
  progress(`the network is in the availability zones ${zones.zoneIds.join(' and ')}`)
  return inZones(checked, zones.zoneIds)
}

/** Null also for a stack whose creation failed: it has no outputs, and the CDK creates it again. */
async function createdOutputs(
  deployment: Deployment,
  stack: 'Data' | 'Network' | 'Service',
): Promise<Readonly<Record<string, string>> | null> {
  const outputs = await outputsOf(deployment, stack)
  return outputs === null || Object.keys(outputs).length === 0 ? null : outputs
}

const sentence = ({ check, message }: Finding): string => `${check}: ${message}`

function reserving(deployment: Deployment): Deployment {
  const { config, context } = deployment
  const settings = context as { readonly concurrency?: object }
  return {
    ...deployment,
    config: { ...config, concurrency: { ...config.concurrency, reserved: true } },
    context: { ...settings, concurrency: { ...settings.concurrency, reserved: true } },
  }
}

const inZones = (deployment: Deployment, zoneIds: readonly string[]): Deployment => {
  const { config, context } = deployment
  const settings = context as { readonly network?: object }
  return {
    ...deployment,
    config: { ...config, network: { ...config.network, zoneIds: [...zoneIds] } },
    context: { ...settings, network: { ...settings.network, zoneIds } },
  }
}

/** Why nothing is chosen: the settings name zones, the first two names serve, or a finding says what is wrong. */
type Selection = { readonly zoneIds: readonly string[] } | { readonly finding: Finding } | object

/**
 * A network stays in the zones in which it was created. A new one gets the first two that serve it, with the upload service too: its setting may be
 * changed later, and the zones may not.
 */
async function selectZones(
  { api, network: { zoneIds } }: Pick<Config, 'api' | 'network'>,
  { ec2, network }: { readonly ec2: Ec2Api; readonly network: Readonly<Record<string, string>> | null },
): Promise<Selection> {
  const lacking = api.uploadService ? ZONES_WITHOUT.vpcOrigins : ZONES_WITHOUT.fargate
  const serves = ({ id }: Pick<Zone, 'id'>): boolean => !lacking.includes(id)
  const advice = 'Set network.zoneIds in cdk.json to two other zones, or api.uploadService to false (docs/deploy.md).'
  const unusable = (ids: readonly string[]): Finding =>
    fail('Zones', `CloudFront's VPC origins or Fargate do not work in ${ids.join(', ')}. ${advice}`)
  if (zoneIds !== undefined) {
    const wrong = zoneIds.filter((id) => !serves({ id }))
    return wrong.length === 0 ? {} : { finding: unusable(wrong) }
  }
  const earlier = network?.['ZoneIds']
  if (earlier !== undefined) return { zoneIds: earlier.split(',') }
  try {
    const zones = await ec2.zones()
    const first = zones.slice(0, 2)
    const lasting = zones.filter(({ id }) => !ZONES_WITHOUT.vpcOrigins.includes(id)).slice(0, 2)
    if (network === null && lasting.length === 2)
      return first.every((zone) => lasting.includes(zone)) ? {} : { zoneIds: lasting.map(({ id }) => id) }
    const wrong = first.filter((zone) => !serves(zone))
    return wrong.length === 0 ? {} : { finding: unusable(wrong.map(({ id }) => id)) }
  } catch (error) {
    return { finding: warn('Zones', `could not be read (${String(error)}): these credentials need ec2:DescribeAvailabilityZones.`) }
  }
}

/** The sandboxes' network, and those of the upload service and the network gateway. */
async function vpcQuota(
  { api, network }: Pick<Config, 'api' | 'network'>,
  { ec2, isNew }: { readonly ec2: Ec2Api; readonly isNew: { readonly network: boolean; readonly service: boolean } },
): Promise<{ readonly quota: Quota } | { readonly finding: Finding } | object> {
  const added = Number(isNew.network) + (isNew.service ? Number(api.uploadService) + Number(network.gateway) : 0)
  if (added === 0) return {}
  try {
    const present = await ec2.vpcCount()
    const needed = present + added
    const why = `the ${present} that exist and ${added} of this deployment`
    return { quota: { what: 'VPCs', service: 'vpc', code: 'L-F678F1CE', unit: 'VPCs', min: needed, recommended: needed, why } }
  } catch (error) {
    return { finding: warn('VPCs', `could not be counted (${String(error)}): these credentials need ec2:DescribeVpcs.`) }
  }
}

const bootstrapFindings = (version: number | null): readonly Finding[] =>
  version === null || version >= BOOTSTRAP_VERSION
    ? []
    : [
        fail(
          'Bootstrap',
          `the stack CDKToolkit has version ${version}; the templates need ${BOOTSTRAP_VERSION}. Run npx cdk bootstrap, which keeps its bucket.`,
        ),
      ]

/** The deletion of the stack Data retains the secret under its fixed name, and nothing else with one. */
async function retainedSecretFindings({ config, sdk }: Deployment): Promise<readonly Finding[]> {
  const check = 'Models secret'
  const name = modelsSecretName(config)
  try {
    const { DeletedDate } = await new SecretsManagerClient(sdk).send(new DescribeSecretCommand({ SecretId: name }))
    const state = DeletedDate === undefined ? 'exists from an earlier deployment' : 'waits for its deletion'
    return [
      fail(
        check,
        `${name} ${state}, and the stack Data creates it. Set models.secretName in cdk.json to another name, or remove it with aws secretsmanager delete-secret --force-delete-without-recovery --secret-id ${name}.`,
      ),
    ]
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return []
    return [warn(check, `could not be read (${String(error)}): these credentials need secretsmanager:DescribeSecret.`)]
  }
}
