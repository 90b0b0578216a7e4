import { CodeDeployClient } from '@aws-sdk/client-codedeploy'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { ECRClient } from '@aws-sdk/client-ecr'
import { IAMClient } from '@aws-sdk/client-iam'
import { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config.ts'
import { checkAccount, type AccountDoctorOptions } from '../../scripts/doctor/account/account-checks.ts'
import { networkFindings } from '../../scripts/doctor/account/probe-tasks.ts'
import { checkPrograms, programsFor } from '../../scripts/doctor/account/hostile-programs.ts'
import { withContainer } from '../../scripts/doctor/account/service-calls.ts'
import { checkPublicSide } from '../../scripts/doctor/account/public-checks.ts'
import { createEc2Api } from '../../scripts/doctor/account/ec2-api.ts'
import { createResolverApi } from '../../scripts/doctor/account/resolver-api.ts'
import { evaluateQuota, quotasFor } from '../../scripts/doctor/account/quotas.ts'
import type { Finding } from '../../scripts/doctor/finding.ts'
import { startScriptedEcs, type ScriptedEcs } from '../support/scripted-ecs.ts'
import type { Deployed } from '../../scripts/doctor/account/deployed.ts'
import { checkEntry } from '../../scripts/doctor/account/standing-checks.ts'
import { context, PRIVATE_INGRESS, synthesise, type Templates } from './synthesise.ts'

const config = readConfig({ ...(context['cellblock'] as object), stage: 'prod' })
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }
/** State of the account that tests change. */
const account = {
  quotas: new Map<string, number>(),
  hasService: true,
  brokenEndpoint: false,
  hasBackups: true,
  hasImages: true,
  otherEndpoint: null as string | null,
  otherPeering: null as string | null,
  /** Of the network gateway, seconds. */
  leaseEndsIn: null as number | null,
  hasRole: true,
  failOpen: 'DISABLED',
  association: 'COMPLETE',
  functionUrl: '',
  groups: [] as object[],
}
const GROUPS = ['api', 'chat', 'run'].map((name) => ({
  deploymentGroupName: `cellblock-prod-${name}`,
  alarmConfiguration: { enabled: true },
  autoRollbackConfiguration: { enabled: true },
}))

/** DynamoDB, CodeDeploy and IAM as the doctor asks them. */
function platformAnswer(target: string | undefined, body: string): { status?: number; body: string } {
  if (target === 'Route53Resolver.GetFirewallRuleGroupAssociation')
    return { body: JSON.stringify({ FirewallRuleGroupAssociation: { VpcId: 'vpc-1', Status: account.association } }) }
  if (target === 'Route53Resolver.GetFirewallConfig')
    return account.failOpen === 'denied'
      ? { status: 400, body: JSON.stringify({ __type: 'AccessDeniedException', Message: 'not authorized' }) }
      : { body: JSON.stringify({ FirewallConfig: { ResourceId: 'vpc-1', FirewallFailOpen: account.failOpen } }) }
  if (target?.endsWith('.DescribeImages')) {
    const { repositoryName, imageIds } = JSON.parse(body) as { repositoryName: string; imageIds: { imageTag: string }[] }
    const isStored = account.hasImages && repositoryName === 'cellblock-prod/sandbox' && imageIds[0]?.imageTag === '0123456789ab-standard'
    return isStored
      ? { body: JSON.stringify({ imageDetails: [{ repositoryName, imageTags: ['0123456789ab-standard'] }] }) }
      : { status: 400, body: JSON.stringify({ __type: 'ImageNotFoundException', message: 'none' }) }
  }
  if (target?.endsWith('.GetItem')) {
    const endsAt = account.leaseEndsIn === null ? null : String(Date.now() + account.leaseEndsIn * 1_000)
    return { body: JSON.stringify(endsAt === null ? {} : { Item: { holder: { S: 'wrk_a' }, expiresAt: { N: endsAt } } }) }
  }
  if (target?.endsWith('.Query')) return { body: JSON.stringify({ Items: [], Count: 0 }) }
  if (target?.endsWith('DescribeContinuousBackups')) {
    const recovery = { PointInTimeRecoveryStatus: account.hasBackups ? 'ENABLED' : 'DISABLED', EarliestRestorableDateTime: 1_760_000_000 }
    return {
      body: JSON.stringify({
        ContinuousBackupsDescription: { ContinuousBackupsStatus: 'ENABLED', PointInTimeRecoveryDescription: recovery },
      }),
    }
  }
  if (target?.endsWith('BatchGetDeploymentGroups')) {
    const { deploymentGroupNames: wanted } = JSON.parse(body) as { deploymentGroupNames: string[] }
    const groups = account.groups.filter((group) => wanted.includes((group as { deploymentGroupName: string }).deploymentGroupName))
    return { body: JSON.stringify({ deploymentGroupsInfo: groups }) }
  }
  return account.hasRole
    ? { body: '<GetRoleResponse><GetRoleResult><Role><RoleName>AWSServiceRoleForECS</RoleName></Role></GetRoleResult></GetRoleResponse>' }
    : { status: 404, body: '<ErrorResponse><Error><Code>NoSuchEntity</Code><Message>none</Message></Error></ErrorResponse>' }
}

/** CloudFormation's description of a stack with its outputs. */
const describeStack = (name: string): { body: string } => ({
  body: `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${name}</StackName><Outputs><member><OutputKey>FunctionUrl</OutputKey><OutputValue>${account.functionUrl}</OutputValue></member></Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
})
let templates: Templates
/** A function URL that refuses calls without the origin secret. */
let originUrl: string
let ecs: ScriptedEcs
const servers: Server[] = []

async function listen(answer: (request: IncomingMessage, body: string) => { status?: number; body: string }): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      const reply = answer(request, body)
      response.writeHead(reply.status ?? 200).end(reply.body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  servers.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** CloudFormation's list of the resources of these templates. */
function listStack(name: string): { status?: number; body: string } {
  const part = name.split('-').at(-1)?.toLowerCase() as keyof Templates
  if (part === 'service' && !account.hasService)
    return {
      status: 400,
      body: `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`,
    }
  const members = Object.entries(templates[part].Resources).map(([id, { Type, Properties }]) => {
    const physical =
      Type === 'AWS::ECS::TaskDefinition' ? `arn:aws:ecs:eu-west-1:1:task-definition/${String(Properties['Family'])}:3` : `${id}-1`
    const status = account.brokenEndpoint && Type === 'AWS::EC2::VPCEndpoint' ? 'UPDATE_FAILED' : 'CREATE_COMPLETE'
    return `<member><LogicalResourceId>${id}</LogicalResourceId><PhysicalResourceId>${physical}</PhysicalResourceId><ResourceType>${Type}</ResourceType><ResourceStatus>${status}</ResourceStatus></member>`
  })
  return {
    body: `<ListStackResourcesResponse><ListStackResourcesResult><StackResourceSummaries>${members.join('')}</StackResourceSummaries></ListStackResourcesResult></ListStackResourcesResponse>`,
  }
}

let options: AccountDoctorOptions
const removed: string[] = []
beforeAll(async () => {
  templates = synthesise()
  const endpoint = await listen((_, body) => {
    const asked = new URLSearchParams(body)
    const name = asked.get('StackName') ?? ''
    return asked.get('Action') === 'DescribeStacks' ? describeStack(name) : listStack(name)
  })
  const platform = await listen((request, body) => platformAnswer(request.headers['x-amz-target'] as string | undefined, body))
  const ec2 = await listen((_, body) => {
    const asked = new URLSearchParams(body)
    const own = Object.entries(templates.network.Resources).flatMap(([id, { Type }]) =>
      Type === 'AWS::EC2::VPCEndpoint' ? [`${id}-1`] : [],
    )
    const all = [...own, ...(account.otherEndpoint === null ? [] : [account.otherEndpoint])]
    const items = all.map(
      (id) => `<item><vpcEndpointId>${id}</vpcEndpointId><vpcId>x</vpcId><serviceName>com.amazonaws.eu-west-1.${id}</serviceName></item>`,
    )
    if (asked.get('Action') === 'DescribeVpcPeeringConnections') {
      const id = asked.get('Filter.1.Name') === 'accepter-vpc-info.vpc-id' ? account.otherPeering : null
      const item = id === null ? '' : `<item><vpcPeeringConnectionId>${id}</vpcPeeringConnectionId></item>`
      return { body: `<DescribeVpcPeeringConnectionsResponse>${item}</DescribeVpcPeeringConnectionsResponse>` }
    }
    const isAsked = asked.get('Action') === 'DescribeVpcEndpoints' && asked.get('Filter.1.Value.1')?.includes('Vpc') === true
    return isAsked
      ? { body: `<DescribeVpcEndpointsResponse><vpcEndpointSet>${items.join('')}</vpcEndpointSet></DescribeVpcEndpointsResponse>` }
      : { status: 400, body: '<Response><Errors><Error><Code>InvalidParameterValue</Code></Error></Errors></Response>' }
  })
  originUrl = await listen(() => ({ status: 404, body: JSON.stringify({ error: { code: 'not_found' } }) }))
  const quotas = await listen((_, body) => {
    const { QuotaCode } = JSON.parse(body) as { QuotaCode: string }
    return { body: JSON.stringify({ Quota: { QuotaCode, Value: account.quotas.get(QuotaCode) ?? 1_000 } }) }
  })
  const client = { region: 'eu-west-1', credentials: CREDENTIALS, maxAttempts: 1 }
  options = {
    config,
    region: 'eu-west-1',
    clients: {
      stacks: new CloudFormationClient({ ...client, endpoint }),
      ecs: undefined as never,
      images: new ECRClient({ ...client, endpoint: platform }),
      quotas: new ServiceQuotasClient({ ...client, endpoint: quotas }),
      tables: new DynamoDBClient({ ...client, endpoint: platform }),
      roles: new IAMClient({ ...client, endpoint: platform }),
      releases: new CodeDeployClient({ ...client, endpoint: platform }),
      resolver: createResolverApi({ ...client, endpoint: platform }),
      ec2: createEc2Api({ ...client, endpoint: ec2 }),
    },
    upload: {
      link: async (bucket) => `https://${bucket}.s3.eu-west-1.amazonaws.com/doctor/x?X-Amz-Signature=1`,
      remove: async (bucket) => void removed.push(bucket),
    },
    image: 'cellblock-sandbox:0123456789ab-standard',
    api: null,
    isLong: false,
    poll: { now: Date.now, pollMs: 1, settleMs: 5 },
    onFinding: () => undefined,
  }
})
beforeEach(async () => {
  account.quotas.clear()
  account.hasService = true
  Object.assign(account, {
    brokenEndpoint: false,
    hasBackups: true,
    hasImages: true,
    otherEndpoint: null,
    otherPeering: null,
    leaseEndsIn: null,
    hasRole: true,
    functionUrl: originUrl,
    groups: GROUPS,
    failOpen: 'DISABLED',
    association: 'COMPLETE',
  })
  await ecs?.close()
  ecs = await startScriptedEcs()
  ecs.exits = (input) => (isProbe(input) ? 32 : null)
})
afterAll(async () => {
  await ecs.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})
const isProbe = (input: object): boolean => JSON.stringify(input).includes('probe-network')
const examine = async (change: Partial<AccountDoctorOptions> = {}): Promise<Record<string, Finding>> => {
  const found = await checkAccount({ ...options, ...change, clients: { ...options.clients, ecs: ecs.client } })
  return Object.fromEntries(found.map((finding) => [finding.check, finding]))
}
const failed = (findings: Record<string, Finding>) => Object.values(findings).filter(({ outcome }) => outcome === 'fail')

describe('the doctor in an account', () => {
  it('passes on a deployment of these templates with intact isolation', async () => {
    const findings = await examine()
    expect(failed(findings)).toEqual([])
    for (const what of [
      'Stacks',
      'Endpoints',
      'Service role',
      'DNS firewall',
      'Entry',
      'Origin',
      'Canary',
      'Backups',
      'Image',
      'Stored images',
      'Other endpoints',
      'Other containers',
      'Warm pool',
      'Sandbox',
      'Internet',
      'Names',
      'Credentials',
      'Foreign bucket',
      'Neighbours',
    ])
      expect(findings[what]).toMatchObject({ outcome: 'ok' })
    expect(findings['Worker']).toMatchObject({ outcome: 'warn', message: expect.stringContaining('CELLBLOCK_URL') })
  })

  it('starts its tasks with the network settings of sandboxes and stops them all', async () => {
    await examine()
    const runs = ecs.calls.filter(({ action }) => action === 'RunTask').map(({ input }) => input)
    expect(runs.map(isProbe)).toEqual([false, true])
    for (const run of runs) {
      expect(run).toMatchObject({
        enableExecuteCommand: false,
        taskDefinition: expect.stringContaining('cellblock-prod-sandbox-standard-1g:3'),
      })
      const network = (run['networkConfiguration'] as { awsvpcConfiguration: Record<string, unknown> }).awsvpcConfiguration
      expect(network).toMatchObject({ assignPublicIp: 'DISABLED', securityGroups: [expect.stringContaining('WallsSandbox')] })
      expect(network['subnets']).toHaveLength(2)
      // No sandbox id: the reconciler would stop a sandbox without a row.
      expect(String(run['startedBy'])).toMatch(/^doctor-/)
    }
    const targets = JSON.stringify(runs[1])
    expect(targets).toContain('prod-eu-west-1-starport-layer-bucket.s3.eu-west-1.amazonaws.com')
    expect(removed.at(-1)).toContain('Objects')
    expect([...ecs.tasks.values()].filter(({ desiredStatus }) => desiredStatus === 'RUNNING')).toEqual([])
  })

  it('names the failed isolation layer by the bit of the probe', async () => {
    ecs.exits = (input) => (isProbe(input) ? 32 + 2 + 8 : null)
    const findings = await examine()
    expect(failed(findings).map(({ check }) => check)).toEqual(['Names', 'Foreign bucket'])
    expect(findings['Names']?.message).toContain('DNS firewall')
  })

  it('fails if a sandbox refuses to serve, and reports an unchecked network if the probe could not run', async () => {
    ecs.exits = () => 193
    const findings = await examine()
    expect(findings['Sandbox']).toMatchObject({
      outcome: 'fail',
      message: expect.stringContaining('unix_socket_opens (exit code 193). Do not use this deployment'),
    })
    expect(findings['Network']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('the network is unchecked') })
  })

  it('reports the reason of ECS if no task starts', async () => {
    const body = { tasks: [], failures: [{ reason: 'Capacity is unavailable at this time.' }] }
    ecs.answer('RunTask', 200, body)
    ecs.answer('RunTask', 200, body)
    const findings = await examine()
    expect(findings['Sandbox']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('Fargate has no') })
    expect(findings['Network']).toMatchObject({ outcome: 'fail' })
  })

  it('names a missing stack and then starts nothing', async () => {
    account.hasService = false
    const findings = await examine()
    expect(findings['Stacks']).toMatchObject({
      outcome: 'fail',
      message: expect.stringContaining('There is no stack Cellblock-prod-Service'),
    })
    expect(ecs.calls).toEqual([])
  })

  it('reports a broken endpoint, another image and a small quota', async () => {
    account.brokenEndpoint = true
    account.quotas.set('L-3032A538', 0).set('L-B99A9384', 50)
    const findings = await examine({ image: 'cellblock-sandbox:another' })
    expect(findings['Endpoints']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('UPDATE_FAILED') })
    expect(findings['Image']).toMatchObject({ outcome: 'warn' })
    expect(findings['Fargate vCPUs']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('L-3032A538') })
    expect(findings['Lambda concurrency']).toMatchObject({ outcome: 'warn' })
  })
})

describe('the standing parts of a deployment', () => {
  it('fail when they are missing, each under its name', async () => {
    const open = await listen(() => ({ body: JSON.stringify({ object: 'list', data: [] }) }))
    Object.assign(account, { hasBackups: false, hasRole: false, functionUrl: open, groups: GROUPS.slice(1) })
    const findings = await examine()
    expect(failed(findings).map(({ check }) => check)).toEqual(['Service role', 'Origin', 'Canary', 'Backups'])
    expect(findings['Canary']?.message).toContain('cellblock-prod-api')
    expect(findings['Origin']?.message).toContain('answered 200 to a call without the origin secret')
  })

  it('include the DNS firewall: it fails closed, and its association is complete', async () => {
    account.failOpen = 'ENABLED'
    expect((await examine())['DNS firewall']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('update-firewall-config') })
    Object.assign(account, { failOpen: 'DISABLED', association: 'DELETING' })
    expect((await examine())['DNS firewall']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('DELETING') })
    Object.assign(account, { failOpen: 'denied', association: 'COMPLETE' })
    expect((await examine())['DNS firewall']).toMatchObject({ outcome: 'warn', message: expect.stringContaining('AccessDeniedException') })
  })

  it('include the image of every task definition: one that its repository has lost fails', async () => {
    account.hasImages = false
    expect((await examine())['Stored images']).toMatchObject({
      outcome: 'fail',
      message: expect.stringContaining('cellblock-prod/sandbox:0123456789ab-standard'),
    })
  })

  it('exclude an endpoint and a container that something else has added', async () => {
    account.otherEndpoint = 'guardduty-data'
    const container = { name: 'aws-guardduty-agent-1', lastStatus: 'RUNNING' }
    const task = { taskArn: 'arn:aws:ecs:eu-west-1:1:task/c/1', desiredStatus: 'RUNNING', lastStatus: 'RUNNING' } as const
    ecs.tasks.set(task.taskArn, { ...task, containers: [{ name: 'sandbox' }, container] })
    const findings = await examine()
    expect(findings['Other endpoints']).toMatchObject({ outcome: 'warn', message: expect.stringContaining('eu-west-1.guardduty-data') })
    expect(findings['Other containers']).toMatchObject({ outcome: 'warn', message: expect.stringContaining('aws-guardduty-agent-1') })
  })

  it('include the network gateway: it serves, and nothing else is connected to the network of the sandboxes', async () => {
    const withGateway = readConfig({ ...(context['cellblock'] as object), network: { gateway: true } })
    expect((await examine())['Network gateway']).toMatchObject({ outcome: 'ok', message: expect.stringContaining('there is none') })
    const gateway = async () => (await examine({ config: withGateway }))['Network gateway']
    expect(await gateway()).toMatchObject({ outcome: 'fail', message: expect.stringContaining('No gateway has started') })
    account.leaseEndsIn = 10
    expect(await gateway()).toMatchObject({ outcome: 'ok' })
    account.leaseEndsIn = -60
    expect(await gateway()).toMatchObject({ outcome: 'fail', message: expect.stringContaining('no lease for 60 s') })
    Object.assign(account, { leaseEndsIn: 10, otherPeering: 'pcx-other' })
    expect(await gateway()).toMatchObject({ outcome: 'fail', message: expect.stringContaining('pcx-other') })
    expect((await examine())['Network gateway']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('pcx-other') })
  })

  it('warn about a version that was rolled back, and fail without an alarm', async () => {
    account.groups = GROUPS.map((group) => ({ ...group, lastAttemptedDeployment: { status: 'Failed' } }))
    expect((await examine())['Canary']).toMatchObject({ outcome: 'warn', message: expect.stringContaining('was withdrawn') })
    account.groups = GROUPS.map((group) => ({ ...group, alarmConfiguration: { enabled: false } }))
    expect((await examine())['Canary']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('no alarm') })
  })

  it('have no public entry behind private ingress: a distribution that is left fails, and a public address', async () => {
    const privateIngress = { ...PRIVATE_INGRESS, host: 'code.invalid' }
    const left = await examine({ config: readConfig({ ...(context['cellblock'] as object), api: { privateIngress } }) })
    expect(left['Entry']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('AWS::CloudFront::Distribution') })
    const deployed = { serviceTypes: ['AWS::ECS::Service'] } as unknown as Deployed
    const entry = (host: string) =>
      checkEntry(
        {
          network: config.network,
          api: { ...config.api, privateIngress: { ...PRIVATE_INGRESS, clientCidrs: [], tasks: 1, maxTasks: 1, host } },
        },
        deployed,
      )
    expect(await entry('10.1.2.3')).toMatchObject({ outcome: 'ok', message: expect.stringContaining('10.1.2.3') })
    expect(await entry('93.184.216.34')).toMatchObject({ outcome: 'fail', message: expect.stringContaining('public address') })
    expect(await entry('code.invalid')).toMatchObject({ outcome: 'warn' })
  })
})

describe('evaluation of the findings', () => {
  it('recommends vCPUs for the pool, the largest tier and ten containers', () => {
    const tiers = (vcpu: object) => ({ '1g': { warm: 4, ...vcpu }, '16g': { warm: 0 } })
    const quotas = (vcpu: object) => quotasFor({ ...config, sandboxes: { ...config.sandboxes, tiers: tiers(vcpu), spotPercent: 50 } })
    const [onDemand, spot] = quotas({})
    expect(quotas({ vcpu: 0.25 })[0]).toMatchObject({ min: 2.5, recommended: 2.5 })
    expect([onDemand?.min, onDemand?.recommended, spot?.code]).toEqual([3, 3.5, 'L-36FBB829'])
    expect(onDemand && [2, 3, 3.5].map((value) => evaluateQuota(onDemand, value).outcome)).toEqual(['fail', 'warn', 'ok'])
  })

  it('warns when the open calls of clients leave too few functions for the workers', () => {
    const functionsOf = (api: typeof config.api) => quotasFor({ ...config, api }).find(({ what }) => what === 'Lambda concurrency')
    const [open, bounded] = [functionsOf(config.api), functionsOf({ ...config.api, reservedConcurrency: 698 })]
    expect(open && [800, 802].map((value) => evaluateQuota(open, value).outcome)).toEqual(['warn', 'ok'])
    expect(bounded && [999, 1_000].map((value) => evaluateQuota(bounded, value).outcome)).toEqual(['warn', 'ok'])
  })
  it.each([0, 1, 31, 64, 86, 127, 137, null])('does not read exit code %s as an answer of the probe', (exitCode) => {
    const findings = networkFindings({ phase: 'gone', reason: 'lost', exitCode })
    expect(findings).toMatchObject([{ check: 'Network', outcome: 'fail' }])
  })
  it('fails if a program opens a socket', async () => {
    const done = { id: 'exec_1', ended_at: 'now', status: 'succeeded', stdout: '[1, 2]\n', error: null }
    const url = await listen((request) => ({ body: JSON.stringify(request.url === '/v1/containers' ? { id: 'cntr_1' } : done) }))
    const finding = await withContainer({ url, key: 'k' }, (container) => checkPrograms(container, programsFor('eu-west-1').slice(0, 1)))
    expect(finding).toMatchObject({ outcome: 'fail', message: expect.stringContaining('doctor/socket-families') })
  })
})

describe('the public side of a deployment', () => {
  const PAGE = { headers: { 'content-security-policy': "default-src 'none'" } }
  /** An object store whose rule names this origin, as S3 answers a preflight. */
  async function objectStore(allowedOrigin: (origin: string) => boolean): Promise<string> {
    const server = createServer((request, response) => {
      const { origin = '', 'access-control-request-headers': headers } = request.headers
      const isAllowed = request.method === 'OPTIONS' && headers === 'content-type,if-none-match' && allowedOrigin(origin)
      response.writeHead(isAllowed ? 200 : 403, isAllowed ? { 'access-control-allow-origin': origin } : {}).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    servers.push(server)
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const PAGE_ORIGIN = 'https://app.example.com'
  /** A distribution that answers uploads like this, whether it has a page, and where its upload links lead. */
  async function distribution(
    upload: { readonly status: number; readonly body: object },
    hasPage = true,
    foreignOrigin?: string,
  ): Promise<string> {
    let address = ''
    const store = await objectStore((origin) => origin === (foreignOrigin ?? address))
    const link = { url: `${store}/object`, headers: { 'content-type': 'text/plain', 'content-length': '1', 'if-none-match': '*' } }
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        if (request.url === '/session') {
          const isSignedIn = request.method === 'POST' || request.headers.cookie === 'session=1'
          response.writeHead(200, { 'set-cookie': 'session=1; Path=/' }).end(JSON.stringify({ signed_in: isSignedIn }))
        } else if (request.url === '/e2b/v2/sandboxes') response.writeHead(201).end(JSON.stringify({ sandboxID: 's1' }))
        else if (request.url === '/v1/responses')
          response
            .writeHead(hasPage ? 404 : 413)
            .end(JSON.stringify(hasPage ? { error: { code: 'model_not_found' }, request_id: 'req_1' } : {}))
        else if (request.method === 'OPTIONS' && request.headers.origin === PAGE_ORIGIN)
          response.writeHead(204, hasPage ? { 'access-control-allow-origin': PAGE_ORIGIN } : {}).end()
        else if (request.url === '/mcp') response.writeHead(hasPage ? 202 : 502).end('\n')
        else if (hasPage && request.url === '/v1/containers') response.end(JSON.stringify({ id: 'cntr_1' }))
        else if (hasPage && request.url?.endsWith('/upload_url') === true) response.end(JSON.stringify(link))
        else if (request.method === 'GET' || request.method === 'HEAD')
          response.writeHead(hasPage ? 200 : 404, hasPage ? PAGE.headers : {}).end('page')
        else response.writeHead(request.method === 'DELETE' ? 200 : upload.status).end(JSON.stringify(upload.body))
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    servers.push(server)
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return address
  }
  const stored = { status: 200, body: { id: 'file_1', bytes: 8_000_000 } }
  const refused = { status: 413, body: { error: { code: 'request_too_large' } } }
  const outcomes = async (url: string, uploadService: boolean) =>
    (await checkPublicSide({ url, key: 'ck' }, { uploadService, corsOrigins: [PAGE_ORIGIN] })).map(
      ({ check, outcome }) => `${check} ${outcome}`,
    )

  it('is intact when the page answers and large bodies go where the settings send them', async () => {
    const allOk = ['Page ok', 'Session ok', 'Uploads ok', 'Large JSON ok', 'Preflight ok', 'Page files ok', 'Empty answers ok']
    expect(await outcomes(await distribution(stored), true)).toEqual(allOk)
    expect(await outcomes(await distribution(refused), false)).toEqual(allOk)
  })

  it('fails without a page, when large bodies are lost, and when nothing answers', async () => {
    expect(await outcomes(await distribution({ status: 502, body: {} }, false), true)).toEqual([
      'Page fail',
      'Session fail',
      'Uploads fail',
      'Large JSON fail',
      'Preflight fail',
      'Page files fail',
      'Empty answers fail',
    ])
    expect(await outcomes(await distribution({ status: 413, body: { Message: 'too long' } }), false)).toEqual([
      'Page ok',
      'Session ok',
      'Uploads fail',
      'Large JSON ok',
      'Preflight ok',
      'Page files ok',
      'Empty answers ok',
    ])
    expect(await outcomes('http://127.0.0.1:9', true)).toEqual([
      'Page fail',
      'Session fail',
      'Uploads fail',
      'Large JSON fail',
      'Preflight fail',
      'Page files fail',
      'Empty answers fail',
    ])
  })

  it('fails when the bucket refuses the preflight of the page', async () => {
    const foreign = await distribution(stored, true, 'https://other.example')
    expect(await outcomes(foreign, true)).toContain('Page files fail')
  })
})
