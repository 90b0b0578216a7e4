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
import { evaluateQuota, quotasFor } from '../../scripts/doctor/account/quotas.ts'
import type { Finding } from '../../scripts/doctor/finding.ts'
import { startScriptedEcs, type ScriptedEcs } from '../integration/scripted-ecs.ts'
import { context, synthesise, type Templates } from './synthesise.ts'

const config = readConfig({ ...(context['cellblock'] as object), stage: 'prod' })
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' }
/** State of the account that tests change. */
const account = { quotas: new Map<string, number>(), hasService: true, brokenEndpoint: false }
let templates: Templates
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
  const endpoint = await listen((_, body) => listStack(new URLSearchParams(body).get('StackName') ?? ''))
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
      quotas: new ServiceQuotasClient({ ...client, endpoint: quotas }),
    },
    upload: {
      link: async (bucket) => `https://${bucket}.s3.eu-west-1.amazonaws.com/doctor/x?X-Amz-Signature=1`,
      remove: async (bucket) => void removed.push(bucket),
    },
    image: 'cellblock-sandbox:0123456789ab',
    api: null,
    poll: { now: Date.now, pollMs: 1, settleMs: 5 },
    onFinding: () => undefined,
  }
})
beforeEach(async () => {
  account.quotas.clear()
  account.hasService = true
  account.brokenEndpoint = false
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
    for (const what of ['Stacks', 'Endpoints', 'Image', 'Sandbox', 'Internet', 'Names', 'Credentials', 'Foreign bucket', 'Neighbours'])
      expect(findings[what]).toMatchObject({ outcome: 'ok' })
    expect(findings['Worker']).toMatchObject({ outcome: 'warn', message: expect.stringContaining('CELLBLOCK_URL') })
  })

  it('starts its tasks with the network settings of sandboxes and stops them all', async () => {
    await examine()
    const runs = ecs.calls.filter(({ action }) => action === 'RunTask').map(({ input }) => input)
    expect(runs.map(isProbe)).toEqual([false, true])
    for (const run of runs) {
      expect(run).toMatchObject({ enableExecuteCommand: false, taskDefinition: expect.stringContaining('cellblock-prod-sandbox-1g:3') })
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
    ecs.exits = () => 86
    const findings = await examine()
    expect(findings['Sandbox']).toMatchObject({ outcome: 'fail', message: expect.stringContaining('Do not use this deployment') })
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

describe('evaluation of the findings', () => {
  it('recommends vCPUs for the pool, the largest tier and ten containers', () => {
    const sandboxes = { ...config.sandboxes, tiers: { '1g': { warm: 4 }, '16g': { warm: 0 } }, spotPercent: 50 }
    const [onDemand, spot] = quotasFor({ ...config, sandboxes })
    expect([onDemand?.min, onDemand?.recommended, spot?.code]).toEqual([3, 3.5, 'L-36FBB829'])
    expect(onDemand && [2, 3, 3.5].map((value) => evaluateQuota(onDemand, value).outcome)).toEqual(['fail', 'warn', 'ok'])
  })
  it.each([0, 1, 31, 64, 86, 127, 137, null])('does not read exit code %s as an answer of the probe', (exitCode) => {
    const findings = networkFindings({ phase: 'gone', reason: 'lost', exitCode })
    expect(findings).toMatchObject([{ check: 'Network', outcome: 'fail' }])
  })
  it('fails if a program opens a socket', async () => {
    const done = { id: 'exec_1', ended_at: 'now', status: 'succeeded', stdout: '[1, 2]\n', error: null }
    const url = await listen((request) => ({ body: JSON.stringify(request.url === '/v1/containers' ? { id: 'cntr_1' } : done) }))
    const finding = await checkPrograms({ url, key: 'k' }, programsFor('eu-west-1').slice(0, 1))
    expect(finding).toMatchObject({ outcome: 'fail', message: expect.stringContaining('doctor/socket-families') })
  })
})
