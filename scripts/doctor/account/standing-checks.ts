import { DescribeContinuousBackupsCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetRoleCommand, type IAMClient } from '@aws-sdk/client-iam'
import { lookup } from 'node:dns/promises'
import { BlockList } from 'node:net'
import type { Config } from '../../../infra/config.ts'
import { fail, ok, warn, type Finding } from '../finding.ts'
import type { Deployed } from './deployed.ts'

/** Types of resources that give the service a public entry. */
const PUBLIC_TYPES = ['AWS::CloudFront::Distribution', 'AWS::Lambda::Url', 'AWS::ApiGateway::RestApi']
/** The network gateway leaves through one, and accepts no connection. */
const GATEWAY_TYPE = 'AWS::EC2::InternetGateway'

const PRIVATE_RANGES = new BlockList()
PRIVATE_RANGES.addSubnet('10.0.0.0', 8)
PRIVATE_RANGES.addSubnet('172.16.0.0', 12)
PRIVATE_RANGES.addSubnet('192.168.0.0', 16)
PRIVATE_RANGES.addSubnet('100.64.0.0', 10)

const named = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error))

/** Whether the table can be restored to an earlier time, and since when. */
export async function checkBackups(client: DynamoDBClient, table: string): Promise<Finding> {
  const what = 'Backups'
  try {
    const { ContinuousBackupsDescription: found } = await client.send(new DescribeContinuousBackupsCommand({ TableName: table }))
    const recovery = found?.PointInTimeRecoveryDescription
    if (recovery?.PointInTimeRecoveryStatus !== 'ENABLED')
      return fail(what, `${table} has no point-in-time recovery. Run npm run deploy again.`)
    const earliest = recovery.EarliestRestorableDateTime
    return ok(
      what,
      `the table can be restored to any second${earliest === undefined ? '' : ` since ${earliest.toISOString()}`} (docs/deploy.md, Restore)`,
    )
  } catch (error) {
    return warn(what, `could not be read (${named(error)}): these credentials need dynamodb:DescribeContinuousBackups.`)
  }
}

/** ECS starts tasks with this role; the first deployment creates it. */
export async function checkServiceRole(client: IAMClient): Promise<Finding> {
  const what = 'Service role'
  try {
    await client.send(new GetRoleCommand({ RoleName: 'AWSServiceRoleForECS' }))
    return ok(what, 'AWSServiceRoleForECS exists')
  } catch (error) {
    return error instanceof Error && error.name === 'NoSuchEntityException'
      ? fail(what, 'AWSServiceRoleForECS does not exist, so ECS starts no task. Run npm run deploy: it creates the role.')
      : warn(what, `could not be read (${named(error)}): these credentials need iam:GetRole.`)
  }
}

/** Private ingress: nothing of the deployment is public, and the name leads to private addresses. */
export async function checkEntry({ api, network }: Pick<Config, 'api' | 'network'>, { serviceTypes }: Deployed): Promise<Finding> {
  const what = 'Entry'
  if (api.privateIngress === undefined) {
    const missing = ['AWS::CloudFront::Distribution', 'AWS::Lambda::Url'].filter((type) => !serviceTypes.includes(type))
    return missing.length === 0
      ? ok(what, 'a distribution in front of the function URL')
      : fail(what, `The service stack has no ${missing.join(', ')}. Run npm run deploy again.`)
  }
  const left = [...PUBLIC_TYPES, ...(network.gateway ? [] : [GATEWAY_TYPE])].filter((type) => serviceTypes.includes(type))
  if (left.length > 0)
    return fail(what, `api.privateIngress is set, and the service stack still has ${left.join(', ')}. Run npm run deploy again.`)
  const { host } = api.privateIngress
  try {
    const addresses = (await lookup(host, { all: true, family: 4 })).map(({ address }) => address)
    const outside = addresses.filter((address) => !PRIVATE_RANGES.check(address))
    return outside.length === 0
      ? ok(what, `no public entry; ${host} leads to ${addresses.join(', ')}`)
      : fail(what, `${host} leads to the public address ${outside.join(', ')}. Point it at the output LoadBalancerDomain.`)
  } catch {
    return warn(
      what,
      `No public entry. ${host} does not resolve here: create a record in a private zone, and run the doctor inside the network.`,
    )
  }
}

/** Past the distribution the function URL serves nothing, so no caller bypasses a web ACL or forges the forwarded host. */
export async function checkOrigin({ functionUrl }: Deployed): Promise<Finding> {
  const what = 'Origin'
  if (functionUrl === null) return ok(what, 'there is no function URL')
  try {
    const answer = await fetch(new URL('/v1/models', functionUrl), { signal: AbortSignal.timeout(30_000) })
    const said = (await answer.json().catch(() => ({}))) as { readonly error?: { readonly code?: string } }
    return answer.status === 404 && said.error?.code === 'not_found'
      ? ok(what, 'the function URL refuses calls that do not come through the distribution')
      : fail(what, `The function URL answered ${answer.status} to a call without the origin secret. Run npm run deploy again.`)
  } catch (error) {
    return warn(what, `The function URL did not answer (${named(error)}).`)
  }
}
