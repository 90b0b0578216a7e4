import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { synthesise } from './synthesise.ts'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/emulator.md'), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Behaviour'))
  .map((line) => line.slice(2, -2).split(' | '))

/** How the table names the services of the templates. */
const SERVICES: Readonly<Record<string, string>> = {
  ApplicationAutoScaling: 'scaling of tasks',
  Budgets: 'Budgets',
  CertificateManager: 'certificates',
  CloudFormation: 'CloudFormation',
  CloudFront: 'CloudFront',
  CloudWatch: 'Metrics from log lines',
  CodeBuild: 'CodeBuild',
  CodeDeploy: 'CodeDeploy',
  DynamoDB: 'DynamoDB',
  EC2: 'Network',
  ECR: 'ECR',
  ECS: 'ECS',
  ElasticLoadBalancingV2: 'load balancers',
  Events: 'EventBridge',
  IAM: 'IAM',
  KMS: 'KMS',
  Lambda: 'Lambda',
  Logs: 'CloudWatch Logs',
  Route53Resolver: 'Route 53 Resolver',
  S3: 'S3',
  SNS: 'SNS',
  SQS: 'SQS',
  SecretsManager: 'Secrets Manager',
  WAFv2: 'WAF',
}

describe('the list of what the emulated account models', () => {
  it('states for each behaviour whether the emulator has it, and which check covers it otherwise', () => {
    expect(rows.length).toBeGreaterThan(40)
    for (const row of rows) expect(row, row.join(' | ')).toHaveLength(3)
    for (const [behaviour, inEmulator = '', otherwise] of rows.slice(1))
      if (inEmulator.startsWith('no')) expect(otherwise, behaviour).not.toBe('–')
  })

  it('names every AWS service of the templates', () => {
    const templates = synthesise({
      sandboxes: { tiers: { '1g': { warm: 1 } }, architecture: 'X86_64' },
      api: { uploadService: true, rateLimit: 2_000 },
      network: { gateway: true },
    })
    const types = Object.values(templates).flatMap(({ Resources }) => Object.values(Resources).map(({ Type }) => Type))
    const services = new Set(types.flatMap((type) => (type.startsWith('AWS::') ? [type.split('::')[1] ?? ''] : [])))
    expect(services.size).toBeGreaterThan(15)
    expect([...services].filter((service) => !page.includes(SERVICES[service] ?? `no name of ${service} in this test`))).toEqual([])
  })

  it('names only tests that exist', () => {
    const named = [...page.matchAll(/`(tests\/[\w./-]+)`/g)].map(([, path = '']) => path)
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })
})
