import { describe, expect, it } from 'vitest'
import { readConfig } from '../../infra/config.ts'
import { all, at, list, named, only, says, set } from './property.ts'
import { context, PRIVATE_INGRESS, STACKS, synthesise } from './synthesise.ts'

const found = synthesise({ api: { privateIngress: { ...PRIVATE_INGRESS, clientCidrs: ['10.20.0.0/16'] } } })
const publicOne = synthesise()
const types = (templates: typeof found) =>
  new Set(Object.values(templates).flatMap(({ Resources }) => Object.values(Resources).map(({ Type }) => Type)))
const balancer = only(found, 'AWS::ElasticLoadBalancingV2::LoadBalancer')
const listener = only(found, 'AWS::ElasticLoadBalancingV2::Listener')
const rule = only(found, 'AWS::ElasticLoadBalancingV2::ListenerRule')
const service = only(found, 'AWS::ECS::Service')
const task = all(found, 'AWS::ECS::TaskDefinition').find(({ Properties }) => Properties['Family'] === 'cellblock-prod-api')
const variables = Object.fromEntries(
  list(at(task, 'Properties.ContainerDefinitions.0.Environment')).map((entry) => [String(at(entry, 'Name')), at(entry, 'Value')]),
)

describe('private ingress', () => {
  it('leaves no public entry: no distribution, no function URL, no function of the API, no public address', () => {
    const left = [...types(found)].filter((type) => /CloudFront|Lambda::Url|ApiGateway|InternetGateway|NatGateway|EC2::EIP/.test(type))
    expect(left).toEqual([])
    expect(types(publicOne).has('AWS::Lambda::Url'), 'the same question finds the public entry').toBe(true)
    expect(all(found, 'AWS::Lambda::Function').map(({ Properties }) => Properties['FunctionName'])).toEqual(
      ['chat', 'run', 'place', 'reconciler'].map((name) => `cellblock-prod-${name}`),
    )
    expect(all(found, 'AWS::Lambda::Permission').filter(({ Properties }) => Properties['Principal'] === '*')).toEqual([])
    expect(balancer.Properties['Scheme']).toBe('internal')
    expect(at(service, 'Properties.NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp')).toBe('DISABLED')
  })

  it('is in the network of the settings, and open to the ranges of the settings only, over TLS', () => {
    expect(balancer.Properties['Subnets']).toEqual(PRIVATE_INGRESS.subnetIds)
    expect(at(service, 'Properties.NetworkConfiguration.AwsvpcConfiguration.Subnets')).toEqual(PRIVATE_INGRESS.subnetIds)
    const group = named(found, 'service', 'IngressBalancerGroup', 'AWS::EC2::SecurityGroup')
    expect(group.Properties['VpcId']).toBe(PRIVATE_INGRESS.vpcId)
    expect(list(group.Properties['SecurityGroupIngress'])).toEqual([
      expect.objectContaining({ CidrIp: '10.20.0.0/16', FromPort: 443, ToPort: 443 }),
    ])
    const tasks = all(found, 'AWS::EC2::SecurityGroupIngress').filter((each) => says(each.Properties['GroupId'], 'IngressTaskGroup'))
    expect(tasks.map(({ Properties }) => says(Properties['SourceSecurityGroupId'], 'IngressBalancerGroup'))).toEqual([true])
    expect(listener.Properties).toMatchObject({
      Port: 443,
      Protocol: 'HTTPS',
      Certificates: [{ CertificateArn: PRIVATE_INGRESS.certificateArn }],
    })
    expect(String(listener.Properties['SslPolicy'])).toMatch(/TLS13-1-2/)
  })

  it('serves one host name, at the load balancer and in the API, and does not trust proxy headers', () => {
    expect(rule.Properties['Conditions']).toEqual([{ Field: 'host-header', HostHeaderConfig: { Values: [PRIVATE_INGRESS.host] } }])
    const refusal = at(listener, 'Properties.DefaultActions.0.FixedResponseConfig')
    expect(refusal).toMatchObject({ StatusCode: '421', ContentType: 'application/json' })
    expect(JSON.parse(String(at(refusal, 'MessageBody')))).toMatchObject({ error: { code: 'unknown_host' } })
    expect(variables).toMatchObject({
      INGRESS: 'load_balancer',
      TRUST_PROXY: 'false',
      ALLOWED_HOSTS: PRIVATE_INGRESS.host,
      PUBLIC_URL: `https://${PRIVATE_INGRESS.host}`,
    })
  })

  it('keeps streams open: the idle timeout of the load balancer exceeds the heartbeat interval of ten seconds', () => {
    const attributes = list(balancer.Properties['LoadBalancerAttributes'])
    expect(attributes).toContainEqual({ Key: 'idle_timeout.timeout_seconds', Value: '300' })
    expect(attributes).toContainEqual({ Key: 'routing.http.drop_invalid_header_fields.enabled', Value: 'true' })
  })

  it('runs as many tasks as the settings say, scales with their load, and goes back when a new version does not start', () => {
    expect(at(service, 'Properties.DesiredCount'), 'a deployment keeps the number that scaling has chosen').toBeUndefined()
    expect(only(found, 'AWS::ApplicationAutoScaling::ScalableTarget').Properties).toMatchObject({ MinCapacity: 2, MaxCapacity: 10 })
    expect(at(service, 'Properties.DeploymentConfiguration')).toMatchObject({
      MinimumHealthyPercent: 100,
      DeploymentCircuitBreaker: { Enable: true, Rollback: true },
    })
  })

  it('has the permissions of the function of the API, and the script of the reference page', () => {
    const access = (resource: unknown) => list(at(resource, 'Properties.Policies.0.PolicyDocument.Statement'))
    const actions = (resource: unknown) =>
      access(resource)
        .flatMap((statement) => list(at(statement, 'Action')))
        .filter((action) => !String(action).startsWith('logs:'))
    const role = named(found, 'service', 'IngressRole', 'AWS::IAM::Role')
    expect(actions(role)).toEqual(actions(named(publicOne, 'service', 'apirole', 'AWS::IAM::Role')))
    expect(says(access(role), '/docs/reference.js')).toBe(true)
    expect(says(access(named(publicOne, 'service', 'apirole', 'AWS::IAM::Role')), '/docs/')).toBe(false)
  })

  it('changes nothing of the sandboxes and the data but the origin of the page', () => {
    const path = 'Properties.CorsConfiguration.CorsRules.0.AllowedOrigins'
    const [own, open] = [found, publicOne].map((templates) => {
      const copy = structuredClone(templates)
      const bucket = named(copy, 'data', 'Objects', 'AWS::S3::Bucket')
      const origins = at(bucket, path)
      set(bucket, path, [])
      return { copy, origins }
    })
    for (const stack of STACKS.filter((name) => name !== 'service' && name !== 'operations'))
      expect(own?.copy[stack]).toEqual(open?.copy[stack])
    expect([own?.origins, open?.origins]).toEqual([[`https://${PRIVATE_INGRESS.host}`], ['https://*.cloudfront.net']])
  })

  it('attaches a regional web ACL, if there is one', () => {
    const webAclArn = 'arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/one/1'
    const protectedOne = synthesise({ api: { privateIngress: { ...PRIVATE_INGRESS, webAclArn } } })
    expect(only(protectedOne, 'AWS::WAFv2::WebACLAssociation').Properties['WebACLArn']).toBe(webAclArn)
    expect(types(found).has('AWS::WAFv2::WebACLAssociation')).toBe(false)
  })

  const settings = context['cellblock'] as Record<string, unknown>
  it.each([
    ['a public range', { clientCidrs: ['0.0.0.0/0'] }, 'clientCidrs.0 must be an IPv4 range of /8 to /32'],
    ['one subnet', { subnetIds: ['subnet-0123456789abcdef0'] }, 'subnetIds must name subnets of at least two availability zones'],
    ['fewer tasks at most than at least', { tasks: 5, maxTasks: 2 }, 'privateIngress must have at least as many maxTasks as tasks'],
    ['no host name', { host: 'https://code' }, 'host must be a host name'],
  ])('refuses %s', (_, change, sentence) => {
    expect(() => readConfig({ ...settings, api: { privateIngress: { ...PRIVATE_INGRESS, ...change } } })).toThrow(sentence)
  })

  it('refuses settings of the public entry beside it, and a missing network', () => {
    expect(() => readConfig({ ...settings, api: { privateIngress: PRIVATE_INGRESS, rateLimit: 100 } })).toThrow(
      'settings of the public entry',
    )
    const { vpcId: _, ...withoutVpc } = PRIVATE_INGRESS
    expect(() => synthesise({ api: { privateIngress: withoutVpc } })).toThrow('needs vpcId and subnetIds')
  })
})
