import { describe, expect, it } from 'vitest'
import { SUPERVISOR_PORT } from '../../infra/constructs/security-groups.ts'
import { all, at, list, named, says } from './property.ts'
import { buildApp, PRIVATE_INGRESS, synthesise } from './synthesise.ts'

const without = synthesise()
const found = synthesise({ network: { gateway: true } })
const groupOf = (name: string) => named(found, 'service', `Gateway${name}`, 'AWS::EC2::SecurityGroup')
const task = all(found, 'AWS::ECS::TaskDefinition').find(({ Properties }) => Properties['Family'] === 'cellblock-prod-network')
const variableOf = (name: string) =>
  at(
    all(found, 'AWS::Lambda::Function').find(({ Properties }) => Properties['FunctionName'] === `cellblock-prod-${name}`),
    'Properties.Environment.Variables.NETWORK_GATEWAY',
  )

describe('the network gateway', () => {
  it('is not deployed by default: nothing of it is in a template', () => {
    for (const type of ['AWS::EC2::VPCPeeringConnection', 'AWS::EC2::InternetGateway', 'AWS::ECS::Service'])
      expect(all(without, type)).toEqual([])
    expect(says(without.data, 'NetworkKeys')).toBe(false)
  })

  it('is the only thing with a way to the internet, and accepts no connection', () => {
    const group = groupOf('TaskGroup')
    expect(group.Properties['SecurityGroupIngress']).toBeUndefined()
    expect(all(found, 'AWS::EC2::SecurityGroupIngress').filter((rule) => says(rule.Properties['GroupId'], 'GatewayTaskGroup'))).toEqual([])
    const out = list(group.Properties['SecurityGroupEgress']).map((rule) => [at(rule, 'CidrIp'), at(rule, 'FromPort'), at(rule, 'ToPort')])
    expect(out).toEqual([
      ['0.0.0.0/0', 443, 443],
      ['0.0.0.0/0', 80, 80],
    ])
    const defaultRoutes = all(found, 'AWS::EC2::Route').filter(({ Properties }) => Properties['DestinationCidrBlock'] === '0.0.0.0/0')
    expect(defaultRoutes.length).toBe(2)
    for (const route of defaultRoutes) expect(says(route.Properties['RouteTableId'], 'GatewayVpc')).toBe(true)
  })

  it('reaches the supervisors of sandboxes and no other port or subnet of their network', () => {
    const beside = (type: string) => all(found, type, 'service').map(({ Properties }) => Properties)
    const [into, ...others] = beside('AWS::EC2::SecurityGroupIngress')
    expect(others).toEqual([])
    expect([into?.['FromPort'], into?.['ToPort'], into?.['IpProtocol']]).toEqual([SUPERVISOR_PORT, SUPERVISOR_PORT, 'tcp'])
    expect([says(into?.['GroupId'], 'WallsSandbox'), says(into?.['SourceSecurityGroupId'], 'GatewayTaskGroup')]).toEqual([true, true])
    const [out, ...more] = beside('AWS::EC2::SecurityGroupEgress')
    expect(more).toEqual([])
    expect([out?.['FromPort'], says(out?.['DestinationSecurityGroupId'], 'WallsSandbox')]).toEqual([SUPERVISOR_PORT, true])

    const peered = all(found, 'AWS::EC2::Route').filter(({ Properties }) => Properties['VpcPeeringConnectionId'] !== undefined)
    const answers = peered.filter(({ Properties }) => Properties['DestinationCidrBlock'] === '10.89.1.0/27')
    expect(answers.length).toBe(2)
    for (const { Properties } of answers) expect(says(Properties['RouteTableId'], 'sandboxSubnet')).toBe(true)
    const towards = peered.filter((route) => !answers.includes(route))
    expect(towards.length).toBe(4)
    const subnets = Object.entries(found.network.Resources).flatMap(([id, { Type, Properties }]) =>
      Type === 'AWS::EC2::Subnet' && id.includes('sandboxSubnet') ? [Properties['CidrBlock']] : [],
    )
    for (const { Properties } of towards) {
      expect(says(Properties['RouteTableId'], 'GatewayVpc')).toBe(true)
      expect(subnets).toContain(Properties['DestinationCidrBlock'])
    }
  })

  it('changes nothing in the network of the sandboxes and its DNS firewall, and gives sandboxes no rule to go out', () => {
    expect(found.network.Resources).toEqual(without.network.Resources)
    expect(found.guard.Resources).toEqual(without.guard.Resources)
  })

  it('alone reads the keys, and has no right on objects, queues, models or ECS', () => {
    const readers = Object.values(found).flatMap(({ Resources }) =>
      Object.entries(Resources).filter(([, { Type, Properties }]) => Type === 'AWS::IAM::Role' && says(Properties, 'NetworkKeys')),
    )
    expect(readers.map(([id]) => id)).toEqual([expect.stringMatching(/^GatewayRole/)])
    const actions = list(at(readers[0]?.[1], 'Properties.Policies.0.PolicyDocument.Statement')).flatMap((statement) =>
      list(at(statement, 'Action')),
    )
    const services = new Set(actions.map((action) => String(action).split(':')[0]))
    expect([...services].toSorted()).toEqual(['dynamodb', 'kms', 'secretsmanager'])
    expect(actions).not.toContain('dynamodb:Scan')
  })

  it('runs as the smallest task with a read-only root, and functions know that it is there', () => {
    const container = at(task, 'Properties.ContainerDefinitions.0')
    expect([at(task, 'Properties.Cpu'), at(task, 'Properties.Memory'), at(container, 'ReadonlyRootFilesystem')]).toEqual([
      '256',
      '512',
      true,
    ])
    expect(at(container, 'Command')).toEqual(['node', '/app/gateway/index.mjs'])
    expect(at(container, 'PortMappings')).toBeUndefined()
    const names = list(at(container, 'Environment')).map((entry) => at(entry, 'Name'))
    expect(names).toContain('NETWORK_KEYS_ARN')
    expect(names).not.toContain('PRIVATE_HOSTS')
    expect(['api', 'run', 'chat'].map(variableOf)).toEqual(['on', 'on', undefined])
  })

  it('works with private ingress and with both other options', () => {
    const api = { privateIngress: PRIVATE_INGRESS }
    expect(() => buildApp({ api, network: { gateway: true } }).app.synth()).not.toThrow()
    expect(() => buildApp({ api: { uploadService: true }, network: { gateway: true } }).app.synth()).not.toThrow()
  })

  it('refuses a range of the sandboxes that contains its own', () => {
    expect(() => synthesise({ network: { gateway: true, cidr: '10.89.0.0/16' } })).toThrow('must not be in 10.89.0.0/16')
    expect(() => synthesise({ network: { gateway: true, cidr: '10.90.0.0/16' } })).not.toThrow()
  })
})
