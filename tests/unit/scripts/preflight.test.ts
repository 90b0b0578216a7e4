import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../../infra/config.ts'
import { deploy } from '../../../scripts/aws/deploy.ts'
import { stacksFor, type Deployment } from '../../../scripts/aws/deployment.ts'
import { preflight } from '../../../scripts/aws/preflight.ts'

/** An account without stacks, with AWS's defaults. Zones in the order of EC2, which promises none. */
const fresh = () => ({
  zones: ['us-east-1b use1-az1', 'us-east-1a use1-az6', 'us-east-1c use1-az3', 'us-east-1d use1-az4'],
  vpcs: 1,
  stacks: {} as Record<string, Record<string, string>>,
  quotas: { 'L-3032A538': 6, 'L-B99A9384': 1_000, 'L-F678F1CE': 5, 'L-2DC20C30': 1 } as Record<string, number>,
  /** Quotas that were never changed: AWS lists their default only. */
  unchanged: ['L-F678F1CE'],
  deniedAction: '',
  secret: null as object | null,
  unreserved: 1_000,
})
let account: ReturnType<typeof fresh>
let calls: string[]
let server: Server

const xmlError = (code: string, message: string) => ({
  status: 400,
  body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
})

function quotaAnswer(action: string, code: string): { status?: number; body: string } {
  if (action === 'GetServiceQuota' && account.unchanged.includes(code))
    return { status: 400, body: JSON.stringify({ __type: 'NoSuchResourceException', Message: 'none' }) }
  return { body: JSON.stringify({ Quota: { QuotaCode: code, Value: account.quotas[code] } }) }
}

function stackAnswer(name: string): { status?: number; body: string } {
  const outputs = account.stacks[name]
  if (outputs === undefined) return xmlError('ValidationError', `Stack with id ${name} does not exist`)
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  )
  return {
    body: `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>${name}</StackName><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
  }
}

function answer(request: IncomingMessage, body: string): { status?: number; body: string } {
  const target = request.headers['x-amz-target']
  if (typeof target === 'string') {
    const action = target.slice(target.indexOf('.') + 1)
    calls.push(action)
    if (action === 'DescribeSecret')
      return account.secret === null
        ? { status: 400, body: JSON.stringify({ __type: 'ResourceNotFoundException', Message: 'none' }) }
        : { body: JSON.stringify(account.secret) }
    return quotaAnswer(action, (JSON.parse(body) as { QuotaCode: string }).QuotaCode)
  }
  if (request.method === 'GET' && request.url === '/2016-08-19/account-settings/') {
    calls.push('GetAccountSettings')
    if (account.deniedAction === 'GetAccountSettings') return { status: 403, body: '{}' }
    return { body: JSON.stringify({ AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: account.unreserved } }) }
  }
  const asked = new URLSearchParams(body)
  const action = asked.get('Action') ?? ''
  calls.push(action)
  if (action === account.deniedAction)
    return { status: 403, body: '<Response><Errors><Error><Code>UnauthorizedOperation</Code></Error></Errors></Response>' }
  if (action === 'DescribeStacks') return stackAnswer(asked.get('StackName') ?? '')
  // EC2 also lists local and wavelength zones unless a filter excludes them.
  if (action === 'DescribeAvailabilityZones' && asked.get('Filter.1.Value.1') === 'availability-zone') {
    const items = account.zones
      .map((zone) => zone.split(' '))
      .map(([name, id]) => `<item><zoneName>${name}</zoneName><zoneId>${id}</zoneId></item>`)
    return {
      body: `<DescribeAvailabilityZonesResponse><availabilityZoneInfo>${items.join('')}</availabilityZoneInfo></DescribeAvailabilityZonesResponse>`,
    }
  }
  if (action === 'DescribeVpcs') {
    const items = Array.from({ length: account.vpcs }, (_, place) => `<item><vpcId>vpc-${place}</vpcId></item>`)
    return { body: `<DescribeVpcsResponse><vpcSet>${items.join('')}</vpcSet></DescribeVpcsResponse>` }
  }
  return xmlError('InvalidAction', action)
}

beforeEach(async () => {
  account = fresh()
  calls = []
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      const said = answer(request, body)
      response.writeHead(said.status ?? 200).end(said.body)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

let lines: string[]
function deploymentWith(settings: object = {}): Deployment {
  lines = []
  const context = {
    stage: 'prod',
    sandboxes: { tiers: { '1g': { warm: 0 } }, architecture: 'X86_64' },
    operations: { monthlyBudgetUsd: 100 },
    ...settings,
  }
  const config = readConfig(context)
  const sdk = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  }
  return { config, context, app: '', output: '', env: {}, sdk, stacks: stacksFor(config), progress: (line) => void lines.push(line) }
}
/** Three networks: those of the sandboxes, the upload service and the network gateway. */
const WITH_EVERY_NETWORK = { api: { uploadService: true }, network: { gateway: true } }
const WITH_UPLOADS = { api: { uploadService: true } }
const check = (settings: object = {}, bootstrapVersion: number | null = null) =>
  preflight(deploymentWith(settings), { region: 'us-east-1', bootstrapVersion })

describe('before the first stack, a deployment', () => {
  it('continues in an account with enough quota, and says what no API tells in advance', async () => {
    const { config } = await check()
    expect(config.network.zoneIds).toBeUndefined()
    expect(lines).toEqual([expect.stringContaining('must be verified')])
  })

  it('names every quota that is too small, before it changes anything', async () => {
    Object.assign(account, { vpcs: 4 })
    Object.assign(account.quotas, { 'L-3032A538': 0, 'L-B99A9384': 60 })
    const began = deploy(
      deploymentWith({ api: { uploadService: true, reservedConcurrency: 20 }, deployment: { imageBuilder: 'codebuild' } }),
      async () => undefined,
    )
    const { message } = (await began.catch((error: unknown) => error)) as Error
    expect(message.split('\n')).toEqual([
      'This account cannot take the deployment yet. Nothing was changed.',
      expect.stringMatching(/^Fargate vCPUs: 0 vCPUs; at least 1 are needed .* Request more in Service Quotas \(L-3032A538\)\.$/),
      expect.stringMatching(/^Lambda concurrency: 60 functions at once; at least 120 are needed/),
      'VPCs: 5 VPCs; at least 6 are needed for the 4 that exist and 2 of this deployment. Request more in Service Quotas (L-F678F1CE).',
    ])
    expect(calls.filter((call) => !/^(Get|Describe)/.test(call))).toEqual([])
  })

  it('counts the network of each option', async () => {
    account.vpcs = 3
    await expect(check(WITH_EVERY_NETWORK)).rejects.toThrow('at least 6 are needed for the 3 that exist and 3 of this deployment')
  })

  it('warns about the ten functions of a new account and about builds that wait for each other', async () => {
    account.quotas['L-B99A9384'] = 10
    await check({ deployment: { imageBuilder: 'codebuild' } })
    expect(lines).toEqual([
      expect.stringMatching(/^Lambda concurrency: 10 functions at once; \d+ would serve/),
      expect.stringMatching(/^CodeBuild builds: 1 builds at once; 2 would serve/),
      expect.stringContaining('must be verified'),
    ])
  })

  it('counts no VPC that an earlier deployment has created', async () => {
    const stacks = { 'Cellblock-prod-Network': { A: '1' }, 'Cellblock-prod-Service': { Url: 'x' } }
    Object.assign(account, { vpcs: 5, stacks })
    await check()
    expect([calls.includes('DescribeVpcs'), lines]).toEqual([false, []])
  })

  it('refuses a bootstrap stack that is too old for the templates', async () => {
    await expect(check({}, 5)).rejects.toThrow('Bootstrap: the stack CDKToolkit has version 5; the templates need 6. Run npx cdk bootstrap')
    await check({}, 6)
  })

  it.each([
    ['exists from an earlier deployment', {}],
    ['waits for its deletion', { DeletedDate: 1_760_000_000 }],
  ])('refuses a secret of model keys that %s', async (state, secret) => {
    account.secret = secret
    await expect(check()).rejects.toThrow(`Models secret: cellblock/prod/models ${state}`)
    account.stacks = { 'Cellblock-prod-Data': { TableName: 't' } }
    await check()
  })

  it('continues where a permission to read is missing, and names it', async () => {
    account.deniedAction = 'DescribeVpcs'
    await check()
    expect(lines[0]).toMatch(/^VPCs: could not be counted \(Error: DescribeVpcs: UnauthorizedOperation\): .* ec2:DescribeVpcs/)
  })
})

describe('the concurrency of the workers', () => {
  const isReserved = async (settings: object = {}) => (await check(settings)).config.concurrency.reserved

  it('is reserved when the account keeps 100 units beside it', async () => {
    const { config, context } = await check()
    expect(config.concurrency.reserved).toBe(true)
    expect(readConfig(context)).toEqual(config)
    account.unreserved = 420
    expect(await isReserved()).toBe(true)
    account.unreserved = 419
    expect(await isReserved()).toBeUndefined()
    account.unreserved = 519
    expect(await isReserved({ api: { reservedConcurrency: 100 } })).toBeUndefined()
  })

  it('stays reserved in later deployments, and follows the setting', async () => {
    account.unreserved = 100
    account.stacks = { 'Cellblock-prod-Service': { ReservedWorkers: '320' } }
    expect(await isReserved()).toBe(true)
    expect(await isReserved({ concurrency: { reserved: false } })).toBe(false)
    expect(calls.filter((call) => call === 'GetAccountSettings')).toEqual([])
  })

  it('is not reserved when the account does not answer', async () => {
    account.deniedAction = 'GetAccountSettings'
    expect(await isReserved()).toBeUndefined()
    expect(lines).toContainEqual(expect.stringContaining('lambda:GetAccountSettings'))
  })
})

describe('the zones of a new network', () => {
  const withHole = () => void (account.zones = ['us-east-1a use1-az3', 'us-east-1b use1-az6', 'us-east-1c use1-az1'])

  it('are the first two that CloudFront and Fargate support', async () => {
    withHole()
    const { config, context } = await check({ network: { cidr: '10.90.0.0/16' } })
    expect(config.network.zoneIds).toEqual(['use1-az6', 'use1-az1'])
    expect(readConfig(context)).toEqual(config)
    expect(lines.at(-1)).toContain('use1-az6 and use1-az1')
  })

  it('may include one that only the upload service lacks, in a network that exists without that service', async () => {
    withHole()
    account.stacks = { 'Cellblock-prod-Network': { A: '1' } }
    expect((await check({ api: { uploadService: false } })).config.network.zoneIds).toBeUndefined()
  })

  it('stay the same in later deployments', async () => {
    account.stacks = { 'Cellblock-prod-Network': { ZoneIds: 'use1-az1,use1-az4' } }
    expect((await check()).config.network.zoneIds).toEqual(['use1-az1', 'use1-az4'])
  })

  it('are not changed under a network that exists: the settings have to name them', async () => {
    withHole()
    account.stacks = { 'Cellblock-prod-Network': { A: '1' } }
    await expect(check(WITH_UPLOADS)).rejects.toThrow(
      "Zones: CloudFront's VPC origins or Fargate do not work in use1-az3. Set network.zoneIds",
    )
  })

  it('may not be set to one that is not supported', async () => {
    await expect(check({ ...WITH_UPLOADS, network: { zoneIds: ['use1-az3', 'use1-az1'] } })).rejects.toThrow('do not work in use1-az3')
  })
})
