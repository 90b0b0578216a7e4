import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { alarmMetrics } from '../../scripts/operate/cost.ts'
import { MEMORY_TIERS } from '../../services/model/limits.ts'
import { dataProperties } from './properties/data.ts'
import { edgeProperties } from './properties/edge.ts'
import { functionProperties } from './properties/functions.ts'
import { networkProperties } from './properties/network.ts'
import { operationsProperties } from './properties/operations.ts'
import { sandboxProperties } from './properties/sandbox.ts'
import { all, at, list, only, says } from './property.ts'
import { readConfig } from '../../infra/config.ts'
import { environmentFindings } from '../../infra/constructs/worker-function.ts'
import { buildApp, context, PRIVATE_INGRESS, synthesise, type Templates } from './synthesise.ts'

const templates = synthesise({
  sandboxes: { tiers: { '1g': { warm: 2 }, '4g': { warm: 1 }, '16g': { warm: 0 }, '64g': { warm: 0 } }, architecture: 'X86_64' },
})
const SUBJECTS = {
  sandbox: sandboxProperties,
  network: networkProperties,
  data: dataProperties,
  functions: functionProperties,
  edge: edgeProperties,
  operations: operationsProperties,
}

describe.each(Object.entries(SUBJECTS))('%s', (_, properties) => {
  it.each(properties)('$title', (property) => {
    expect(property.holds(templates)).toBe(true)
    const mutant = structuredClone(templates)
    property.break(mutant)
    expect(property.holds(mutant), 'the check must notice the mutant').toBe(false)
  })
})

it('checks at least forty properties, each under its own title', () => {
  const titles = Object.values(SUBJECTS).flatMap((properties) => properties.map(({ title }) => title))
  expect(titles.length).toBeGreaterThanOrEqual(40)
  expect(new Set(titles).size).toBe(titles.length)
})

it('gives tasks that may be on Spot the whole notice, and tells the supervisor to use it', () => {
  const spot = synthesise({ sandboxes: { tiers: { '1g': { warm: 0 } }, architecture: 'ARM64', spotPercent: 70 } })
  const tasks = all(spot, 'AWS::ECS::TaskDefinition').filter((task) => says(task, 'CELLBLOCK_STOP_SECONDS'))
  expect(tasks.map((task) => at(task, 'Properties.ContainerDefinitions.0.StopTimeout'))).toEqual(tasks.map(() => 120))
  expect(tasks.length).toBeGreaterThan(0)
  for (const task of tasks)
    expect(at(task, 'Properties.ContainerDefinitions.0.Environment')).toContainEqual({ Name: 'CELLBLOCK_STOP_SECONDS', Value: '115' })
})

it('reserves the concurrency of the workers with the setting, and says how much', () => {
  const { service } = synthesise({ concurrency: { reserved: true, run: 100 } })
  const reserved = Object.values(service.Resources).flatMap(({ Type, Properties }) =>
    Type === 'AWS::Lambda::Function' && Properties['ReservedConcurrentExecutions'] !== undefined
      ? [[Properties['FunctionName'], Properties['ReservedConcurrentExecutions']]]
      : [],
  )
  expect(Object.fromEntries(reserved)).toEqual({
    'cellblock-prod-chat': 50,
    'cellblock-prod-run': 100,
    'cellblock-prod-place': 50,
    'cellblock-prod-reconciler': 20,
  })
  expect(at(service.Outputs?.['ReservedWorkers'], 'Value')).toBe('220')
})

it('refuses variables of a function that Lambda would refuse', () => {
  expect(environmentFindings('place', { A: 'x'.repeat(4_000), B: { Ref: 'Table' } })).toEqual([expect.stringContaining('about 4114 bytes')])
  expect(
    environmentFindings('place', { A: 'x'.repeat(3_900), B: { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': ['Queue', 'Url'] }]] } }),
  ).toEqual([])
  const every = { tiers: Object.fromEntries(MEMORY_TIERS.map((tier) => [tier, { warm: 1 }])), images: ['standard', 'slim', 'full'] }
  const sandboxes = { ...(context['cellblock'] as { sandboxes: object }).sandboxes, ...every }
  expect(() => buildApp({ stage: 'a-stage-of-16-ch', sandboxes }).app.synth()).not.toThrow()
})

describe('stacks', () => {
  it('have an entry in the runbook for each alarm, and no entry for another', () => {
    const runbook = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
    const entries = [...runbook.matchAll(/^### (`.*`)$/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
    )
    const everyTier = synthesise({
      api: { uploadService: true },
      network: { gateway: true },
      sandboxes: { tiers: Object.fromEntries(MEMORY_TIERS.map((tier) => [tier, { warm: 1 }])), architecture: 'X86_64' },
    })
    const alarmsOf = ({ operations }: Templates) =>
      Object.entries(operations.Resources).flatMap(([id, { Type }]) =>
        Type === 'AWS::CloudWatch::Alarm' ? [id.replace(/^When/, '').replace(/[0-9A-F]{8}$/, '')] : [],
      )
    const alarms = new Set([...alarmsOf(everyTier), ...alarmsOf(synthesise({ api: { privateIngress: PRIVATE_INGRESS } }))])
    expect(entries.map((name) => name.replaceAll('-', '')).toSorted()).toEqual([...alarms].toSorted())
  })

  it.each([
    ['with every default', {}, 5, undefined],
    ['with the upload service', { uploadService: true }, 5, undefined],
    ['with the network gateway', {}, 5, { gateway: true }],
    ['without a canary', {}, 0, undefined],
    ['with private ingress', { privateIngress: PRIVATE_INGRESS }, 5, undefined],
  ] as const)('have as many alarm metrics as the cost command counts, %s', (_, api, canaryMinutes, network) => {
    const sandboxes = { tiers: { '1g': { warm: 2 }, '4g': { warm: 1 } }, architecture: 'X86_64', spotPercent: 0 }
    const settings = { sandboxes, api, network, deployment: { canaryMinutes } }
    const metrics = all(synthesise(settings), 'AWS::CloudWatch::Alarm').flatMap(({ Properties }) =>
      Properties['Metrics'] === undefined
        ? [Properties]
        : list(Properties['Metrics']).filter((metric) => at(metric, 'MetricStat') !== undefined),
    )
    expect(metrics.length).toBe(alarmMetrics(2, readConfig({ ...(context['cellblock'] as object), ...settings })))
  })

  it('starts no sandbox before the guard is deployed', () => {
    const { stacks } = buildApp()
    expect(stacks.service.dependencies).toContain(stacks.guard)
  })

  it('passes nothing from stack to stack that a new image changes, or the second deployment would be refused', () => {
    const exports = (imageTag: string) => {
      const found = synthesise({ sandboxes: { tiers: { '1g': { warm: 0 } }, architecture: 'X86_64', imageTag } })
      return Object.values(found).map(({ Outputs }) => Outputs ?? {})
    }
    expect(exports('one')).toEqual(exports('another'))
  })

  it('uses a custom bootstrap qualifier and bounds every role', () => {
    const deployment = { bootstrapQualifier: 'acme1', permissionsBoundary: 'developer-boundary' }
    const found = synthesise({ deployment })
    const roles = all(found, 'AWS::IAM::Role')
    expect(roles.length).toBeGreaterThan(5)
    expect(roles.filter(({ Properties }) => !says(Properties['PermissionsBoundary'], ':policy/developer-boundary'))).toEqual([])
    expect(JSON.stringify(found.data)).toContain('/cdk-bootstrap/acme1/version')
    expect(JSON.stringify(found.data)).not.toContain('hnb659fds')
  })

  it('has a task definition for each image and tier, and passes the images to every function', () => {
    const found = synthesise({
      sandboxes: {
        tiers: { '1g': { warm: 1 }, '4g': { warm: 0 } },
        images: ['standard', 'slim'],
        imagePools: { slim: { '1g': 2 } },
        architecture: 'X86_64',
      },
    })
    const families = all(found, 'AWS::ECS::TaskDefinition').map(({ Properties }) => String(Properties['Family']))
    expect(families.toSorted()).toEqual(
      ['slim-1g', 'slim-4g', 'standard-1g', 'standard-4g'].map((name) => `cellblock-prod-sandbox-${name}`),
    )
    const variables = (name: string) =>
      at(
        all(found, 'AWS::Lambda::Function').find(({ Properties }) => Properties['FunctionName'] === `cellblock-prod-${name}`),
        'Properties.Environment.Variables',
      ) as Record<string, unknown>
    expect(variables('api')['IMAGE_NAMES']).toBe('standard,slim')
    for (const name of ['run', 'place', 'reconciler']) {
      const images = JSON.stringify(variables(name)['SANDBOX_IMAGES'])
      expect(images.indexOf('standard')).toBeGreaterThan(-1)
      expect(images.indexOf('standard')).toBeLessThan(images.indexOf('slim'))
      expect(images).toContain('0123456789ab-standard')
    }
    expect(variables('place')['POOL_SIZES']).toBe('{"1g":1,"4g":0}')
    expect(variables('place')['IMAGE_POOL_SIZES']).toBe('{"slim":{"1g":2}}')
    expect(JSON.stringify(variables('place')['TASK_DEFINITIONS'])).toMatch(/standard.*1g.*slim.*1g/)
  })

  it('serves the page by the API, which reads its files only, and keeps its assets at the edge', () => {
    const found = synthesise()
    const behaviours = list(at(only(found, 'AWS::CloudFront::Distribution'), 'Properties.DistributionConfig.CacheBehaviors'))
    const assets = behaviours.find((behaviour) => at(behaviour, 'PathPattern') === '/assets/*')
    const main = at(only(found, 'AWS::CloudFront::Distribution'), 'Properties.DistributionConfig.DefaultCacheBehavior')
    expect(at(assets, 'TargetOriginId')).toBe(at(main, 'TargetOriginId'))
    expect(at(assets, 'CachePolicyId')).not.toBe(at(main, 'CachePolicyId'))
    const role = Object.entries(found.service.Resources).find(([id, { Type }]) => id.startsWith('apirole') && Type === 'AWS::IAM::Role')
    const page = list(at(role?.[1], 'Properties.Policies.0.PolicyDocument.Statement')).filter((statement) => says(statement, '/page/*'))
    expect(page.map((statement) => at(statement, 'Action'))).toEqual(['s3:GetObject'])
  })

  it('follows the settings', () => {
    const settings = {
      stage: 'dev',
      sandboxes: {
        tiers: { '4g': { warm: 1 } },
        architecture: 'ARM64',
        spotPercent: 70,
        images: ['slim'],
        imageUri: 'cellblock-sandbox:dev',
      },
      api: {
        customDomain: { name: 'code.example.com', certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/one' },
        corsOrigins: ['https://app.example.com'],
        reservedConcurrency: 200,
        uploadService: false,
      },
      models: { list: [{ name: 'small', baseUrl: 'https://models.example.com/v1', keyName: 'SMALL_KEY' }] },
      tools: { webSearch: true, folder: 'examples/tools' },
      network: { endpointZones: 2, s3PrefixListId: 'pl-11111111', dynamodbPrefixListId: 'pl-22222222' },
      operations: { monthlyBudgetUsd: 7, alarmEmail: 'ops@example.com' },
    }
    const found = synthesise(settings, ['web_search', 'current_time'])
    const definition = only(found, 'AWS::ECS::TaskDefinition')
    const distribution = only(found, 'AWS::CloudFront::Distribution')
    expect(at(definition, 'Properties.RuntimePlatform.CpuArchitecture')).toBe('ARM64')
    expect(at(definition, 'Properties.ContainerDefinitions.0.Image')).toBe('cellblock-sandbox:dev')
    expect(at(only(found, 'AWS::ECS::Cluster'), 'Properties.DefaultCapacityProviderStrategy')).toEqual([
      { CapacityProvider: 'FARGATE', Weight: 30 },
      { CapacityProvider: 'FARGATE_SPOT', Weight: 70 },
    ])
    expect(at(distribution, 'Properties.DistributionConfig.Aliases')).toEqual(['code.example.com'])
    expect(at(distribution, 'Properties.DistributionConfig.ViewerCertificate.MinimumProtocolVersion')).toBe('TLSv1.2_2021')
    const interfaces = all(found, 'AWS::EC2::VPCEndpoint').filter(({ Properties }) => Properties.VpcEndpointType === 'Interface')
    expect(interfaces.map(({ Properties }) => list(Properties.SubnetIds).length)).toEqual([2, 2, 2])
    expect(says(all(found, 'AWS::EC2::SecurityGroup'), 'pl-11111111')).toBe(true)
    expect(only(found, 'AWS::SNS::Subscription').Properties).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com' })
    expect(says(all(found, 'AWS::S3::Bucket'), 'https://app.example.com')).toBe(true)
    const chat = all(found, 'AWS::Lambda::Function').find(({ Properties }) => Properties.FunctionName === 'cellblock-dev-chat')
    expect(JSON.parse(String(at(chat, 'Properties.Environment.Variables.CELLBLOCK_MODELS')))).toEqual([
      { name: 'small', base_url: 'https://models.example.com/v1', api_key_env: 'SMALL_KEY' },
    ])
    expect(at(chat, 'Properties.Environment.Variables.CELLBLOCK_TOOLS')).toBe('/var/task/tools')
    const api = all(found, 'AWS::Lambda::Function').find(({ Properties }) => Properties.FunctionName === 'cellblock-dev-api')
    expect(at(api, 'Properties.Environment.Variables.TOOL_TYPES')).toBe('web_search,current_time')
    expect(at(api, 'Properties.ReservedConcurrentExecutions')).toBe(200)
    expect(at(chat, 'Properties.ReservedConcurrentExecutions')).toBeUndefined()
  })
})
