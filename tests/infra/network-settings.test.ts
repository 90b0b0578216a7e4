import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config.ts'
import { CDK_FLAGS } from '../../infra/stacks/flagged-stack.ts'
import { stacksFor } from '../../scripts/aws/deployment.ts'
import { all, at, only, says } from './property.ts'
import { buildApp, context, synthesise } from './synthesise.ts'

const defaults = synthesise()
const settings = context.cellblock as Record<string, object>

it('sets the feature flags of cdk.json on every stack, for apps that set others', () => {
  const { cellblock: _, ...flags } = context
  expect(CDK_FLAGS).toEqual(flags)
})

describe('the network', () => {
  it('exports neither VPC, subnets nor security groups, so that another range can be deployed', () => {
    const exported = Object.entries(defaults.network.Outputs ?? {}).filter(([, output]) => at(output, 'Export') !== undefined)
    expect(exported.map(([name]) => name).filter((name) => /Vpc|Subnet|GroupId/.test(name))).toEqual([])
    expect(JSON.stringify(defaults.service)).toContain('Fn::GetStackOutput')
  })

  it('changes every stack that uses it, because the CDK skips a stack with an unchanged template', () => {
    for (const network of [{ cidr: '172.20.0.0/16' }, { zoneIds: ['use1-az1', 'use1-az2'] }]) {
      const other = synthesise({ network })
      for (const stack of ['network', 'guard', 'service'] as const) expect(other[stack], stack).not.toEqual(defaults[stack])
      expect(other.data).toEqual(defaults.data)
    }
  })

  it('is in the zones of the given ids', () => {
    const subnets = all(synthesise({ network: { zoneIds: ['use1-az4', 'use1-az6'] } }), 'AWS::EC2::Subnet', 'network')
    expect(subnets.map(({ Properties }) => Properties['AvailabilityZoneId']).toSorted()).toEqual(
      ['use1-az4', 'use1-az4', 'use1-az6', 'use1-az6'].toSorted(),
    )
    expect(subnets.every(({ Properties }) => Properties['AvailabilityZone'] === undefined)).toBe(true)
  })

  it.each([[['use1-az1']], [['use1-az1', 'use1-az1']], [['us-east-1a', 'us-east-1b']]])('refuses the zones %j', (zoneIds) => {
    expect(() => readConfig({ ...settings, network: { zoneIds } })).toThrow(/availability zone/)
  })
})

describe('the processor of a tier', () => {
  it('is that of its task definitions and of the prices in the functions, and of no other tier', () => {
    const { service } = synthesise({ sandboxes: { ...settings['sandboxes'], tiers: { '1g': { warm: 0, vcpu: 0.25 }, '4g': { warm: 0 } } } })
    const units = (tier: string) =>
      Object.values(service.Resources)
        .filter(({ Type, Properties }) => Type === 'AWS::ECS::TaskDefinition' && String(Properties['Family']).endsWith(`-${tier}`))
        .map(({ Properties }) => Properties['Cpu'])
    expect([...new Set(units('1g')), ...new Set(units('4g'))]).toEqual(['256', '1024'])
    const chosen = Object.values(service.Resources).filter(
      (resource) => at(resource, 'Properties.Environment.Variables.SANDBOX_VCPUS') === '{"1g":0.25}',
    )
    expect(chosen).toHaveLength(3)
  })
})

describe('the rate limit', () => {
  it('is a web ACL in the Region of CloudFront, attached to the distribution, which waits for it', () => {
    const { stacks } = buildApp({ api: { uploadService: false, rateLimit: 3_000 } })
    const { firewall, service } = stacks
    if (firewall === null) throw new Error('The firewall stack is missing')
    expect(firewall.region).toBe('us-east-1')
    const acl = Object.values(Template.fromStack(firewall).findResources('AWS::WAFv2::WebACL'))[0]
    expect(at(acl, 'Properties.Scope')).toBe('CLOUDFRONT')
    expect(at(acl, 'Properties.Rules.0.Statement.RateBasedStatement')).toMatchObject({ Limit: 3_000, EvaluationWindowSec: 300 })
    expect(at(acl, 'Properties.Rules.0.Action')).toEqual({ Block: {} })
    const distribution = Object.values(Template.fromStack(service).findResources('AWS::CloudFront::Distribution'))[0]
    expect(at(distribution, 'Properties.DistributionConfig.WebACLId.Fn::GetStackOutput')).toEqual({
      StackName: 'Cellblock-prod-Firewall',
      OutputName: 'WebAclArn',
      Region: 'us-east-1',
    })
    expect(service.dependencies).toContain(firewall)
  })

  it('is absent by default, and the deploy command knows its stack only with it', () => {
    expect(buildApp().stacks.firewall).toBeNull()
    expect(at(only(defaults, 'AWS::CloudFront::Distribution'), 'Properties.DistributionConfig.WebACLId')).toBeUndefined()
    const stacks = (api: object) => stacksFor(readConfig({ ...settings, api }))
    expect(stacks({})).not.toContain('Firewall')
    expect(stacks({ rateLimit: 100 }).indexOf('Firewall')).toBeLessThan(stacks({ rateLimit: 100 }).indexOf('Service'))
  })

  it('excludes a web ACL of the account', () => {
    const webAclArn = 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/one/1'
    expect(() => readConfig({ ...settings, api: { webAclArn, rateLimit: 100 } })).toThrow('either webAclArn or rateLimit')
    expect(says(synthesise({ api: { webAclArn, uploadService: false } }).service, webAclArn)).toBe(true)
  })
})
