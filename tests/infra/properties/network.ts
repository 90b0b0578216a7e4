import {
  actions,
  all,
  at,
  first,
  isAbsent,
  list,
  named,
  only,
  same,
  says,
  set,
  statements,
  value,
  type Property,
  type Statement,
} from '../property.ts'
import type { Resource, Templates } from '../synthesise.ts'

const endpoints = (t: Templates): Resource[] => all(t, 'AWS::EC2::VPCEndpoint')
const endpoint = (name: string) => (t: Templates) => named(t, 'network', name, 'AWS::EC2::VPCEndpoint')
const layers = endpoint('ImageEndpointsLayers')
const ecr = (t: Templates): Resource[] => [endpoint('ImageEndpointsEcrApi')(t), endpoint('ImageEndpointsEcrDocker')(t)]
const tableEndpoint = endpoint('RunEndpointsTable')
const objectsEndpoint = endpoint('RunEndpointsObjects')
const queuesEndpoint = endpoint('RunEndpointsQueues')
const policy = (resource: Resource): Statement[] => statements(at(resource, 'Properties.PolicyDocument'))
const allowed = (resource: Resource): string[] => policy(resource).flatMap(actions).toSorted()
const isOnlyFor = (role: string) => (s: Statement) => says(s.Condition?.ArnEquals?.['aws:PrincipalArn'], role)
const group = (name: string) => (t: Templates) => named(t, 'network', `Walls${name}`, 'AWS::EC2::SecurityGroup')
const vpc = (t: Templates): Resource => only(t, 'AWS::EC2::VPC')
const ruleGroup = (t: Templates): Resource => only(t, 'AWS::Route53Resolver::FirewallRuleGroup')
const names = (name: string) => (t: Templates) => named(t, 'guard', `DnsFirewall${name}`, 'AWS::Route53Resolver::FirewallDomainList')

const none = (title: string, ...types: string[]): Property => ({
  title,
  holds: (t) => types.every((type) => all(t, type).length === 0),
  break: (t) => void (t.network.Resources.Intruder = { Type: first(types), Properties: {} }),
})
/** What a group lets in or out, its own rules and those beside it, as `port>other end`. */
function rules(t: Templates, name: string, direction: 'Ingress' | 'Egress'): string[] {
  const id = first(Object.entries(t.network.Resources).filter(([, resource]) => resource === group(name)(t)))[0]
  const beside = all(t, `AWS::EC2::SecurityGroup${direction}`)
    .filter((rule) => says(at(rule, 'Properties.GroupId'), id))
    .map((rule) => rule.Properties)
  const inside = list(at(group(name)(t), `Properties.SecurityGroup${direction}`))
  return [...inside, ...beside]
    .filter((rule) => at(rule, 'IpProtocol') !== 'icmp')
    .map((rule) => `${String(at(rule, 'FromPort'))}-${String(at(rule, 'ToPort'))} ${otherEnd(rule)}`)
    .toSorted()
}
function otherEnd(rule: unknown): string {
  const text = JSON.stringify(
    at(rule, 'SourceSecurityGroupId') ??
      at(rule, 'DestinationSecurityGroupId') ??
      at(rule, 'DestinationPrefixListId') ??
      at(rule, 'CidrIp') ??
      at(rule, 'CidrIpv6'),
  )
  return (
    ['ImageEndpoints', 'QueueEndpoint', 'Sandbox', 'Run'].find((name) => text.includes(`Walls${name}`)) ??
    /"(s3|dynamodb)"/.exec(text)?.[1] ??
    text
  )
}
const hasRules = (title: string, name: string, direction: 'Ingress' | 'Egress', wanted: string[]): Property => ({
  title,
  holds: (t) => same(rules(t, name, direction), wanted),
  break: (t) =>
    void (t.network.Resources.Intruder = {
      Type: `AWS::EC2::SecurityGroup${direction}`,
      Properties: {
        GroupId: { 'Fn::GetAtt': [first(Object.entries(t.network.Resources).filter(([, r]) => r === group(name)(t)))[0], 'GroupId'] },
        IpProtocol: 'tcp',
        FromPort: 22,
        ToPort: 22,
        CidrIp: '10.0.0.0/8',
      },
    }),
})
const wider = (find: (t: Templates) => Resource, path: string, wrong: unknown) => (t: Templates) =>
  set(find(t), `Properties.PolicyDocument.Statement.${path}`, wrong)

export const networkProperties: readonly Property[] = [
  none('there is no internet gateway', 'AWS::EC2::InternetGateway', 'AWS::EC2::VPCGatewayAttachment'),
  none('there is no NAT', 'AWS::EC2::NatGateway', 'AWS::EC2::EIP'),
  none('there is no way out by IPv6', 'AWS::EC2::EgressOnlyInternetGateway', 'AWS::EC2::VPCCidrBlock'),
  none('no route leads anywhere', 'AWS::EC2::Route'),
  none('the network is joined to no other', 'AWS::EC2::VPCPeeringConnection', 'AWS::EC2::TransitGatewayAttachment', 'AWS::EC2::VPNGateway'),
  none('no load balancer stands before a sandbox', 'AWS::ElasticLoadBalancingV2::LoadBalancer'),
  none('no service keeps sandboxes alive or hands them out twice', 'AWS::ECS::Service'),
  {
    title: 'no subnet gives a public address, of either kind',
    holds: (t) =>
      all(t, 'AWS::EC2::Subnet').length === 4 &&
      all(t, 'AWS::EC2::Subnet').every(
        (s) => at(s, 'Properties.MapPublicIpOnLaunch') === false && isAbsent(at(s, 'Properties.Ipv6CidrBlock')),
      ),
    break: (t) => set(first(all(t, 'AWS::EC2::Subnet')), 'Properties.MapPublicIpOnLaunch', true),
  },
  value('names of AWS resolve inside, so that they need not be looked up outside', vpc, 'Properties.EnableDnsSupport', true, false),
  {
    title: 'three interface endpoints and three gateways, no more',
    holds: (t) =>
      same(
        endpoints(t)
          .map((e) => e.Properties.VpcEndpointType)
          .toSorted(),
        ['Gateway', 'Gateway', 'Gateway', 'Interface', 'Interface', 'Interface'],
      ),
    break: (t) => void (t.network.Resources.Intruder = structuredClone(queuesEndpoint(t))),
  },
  {
    title: 'sandboxes and the run worker share no route table',
    holds: (t) => {
      const ofSandboxes = list(layers(t).Properties.RouteTableIds)
      const ofRun = [...list(tableEndpoint(t).Properties.RouteTableIds), ...list(objectsEndpoint(t).Properties.RouteTableIds)]
      return (
        ofSandboxes.length === 2 &&
        ofRun.length === 4 &&
        ofSandboxes.every((one) => says(one, 'sandbox') && !ofRun.some((other) => same(one, other)))
      )
    },
    break: (t) => set(tableEndpoint(t), 'Properties.RouteTableIds', layers(t).Properties.RouteTableIds),
  },
  {
    title: "sandboxes reach ECR's layers in S3, to read, and no other bucket",
    holds: (t) =>
      same(allowed(layers(t)), ['s3:GetObject']) &&
      policy(layers(t)).every((s) => says(s.Resource, 'arn:aws:s3:::prod-') && says(s.Resource, '-starport-layer-bucket/*')),
    break: wider(layers, '0.Resource', '*'),
  },
  {
    title: 'the endpoint of the layers allows no write',
    holds: (t) => policy(layers(t)).every((s) => actions(s).every((action) => action === 's3:GetObject')),
    break: wider(layers, '0.Action', ['s3:GetObject', 's3:PutObject']),
  },
  {
    title: "ECR's endpoints let image pulls through and nothing else",
    holds: (t) =>
      ecr(t).every((e) =>
        same(allowed(e), [
          'ecr:BatchCheckLayerAvailability',
          'ecr:BatchGetImage',
          'ecr:GetAuthorizationToken',
          'ecr:GetDownloadUrlForLayer',
        ]),
      ),
    break: wider((t) => ecr(t)[1] as Resource, '1.Action', 'ecr:*'),
  },
  {
    title: "ECR's endpoints serve the pull role only",
    holds: (t) => ecr(t).every((e) => policy(e).every(isOnlyFor('PullRole'))),
    break: wider((t) => ecr(t)[0] as Resource, '1.Condition', undefined),
  },
  {
    title: "ECR's endpoints serve our repository only",
    holds: (t) =>
      ecr(t).every((e) =>
        policy(e).every(
          (s) => actions(s).includes('ecr:GetAuthorizationToken') || (says(s.Resource, 'Cellblock-prod-Image:') && !says(s.Resource, '*')),
        ),
      ),
    break: wider((t) => ecr(t)[1] as Resource, '1.Resource', 'arn:aws:ecr:us-east-1:666666666666:repository/*'),
  },
  {
    title: 'the run worker reaches our table only, under its role',
    holds: (t) =>
      policy(tableEndpoint(t)).every(
        (s) => isOnlyFor('RunRole')(s) && list(s.Resource).every((r) => says(r, 'Cellblock-prod-Data:') && !says(r, '*')),
      ),
    break: wider(tableEndpoint, '0.Resource', '*'),
  },
  {
    title: 'the run worker reaches our bucket only, under its role',
    holds: (t) =>
      policy(objectsEndpoint(t)).every((s) => isOnlyFor('RunRole')(s) && list(s.Resource).every((r) => says(r, 'Cellblock-prod-Data:'))),
    break: wider(objectsEndpoint, '1.Resource', 'arn:aws:s3:::foreign/*'),
  },
  {
    title: 'the run worker sends to our queues only, under its role',
    holds: (t) =>
      same(allowed(queuesEndpoint(t)), ['sqs:SendMessage']) &&
      policy(queuesEndpoint(t)).every(
        (s) => isOnlyFor('RunRole')(s) && list(s.Resource).length === 3 && list(s.Resource).every((r) => says(r, 'Cellblock-prod-Data:')),
      ),
    break: wider(queuesEndpoint, '0.Condition', undefined),
  },
  {
    title: 'every endpoint has a policy',
    holds: (t) => endpoints(t).every((e) => policy(e).length > 0),
    break: (t) => set(queuesEndpoint(t), 'Properties.PolicyDocument', undefined),
  },
  hasRules('only the run worker reaches a sandbox, at its one port', 'Sandbox', 'Ingress', ['8700-8700 Run']),
  hasRules('a sandbox reaches the image and nothing else', 'Sandbox', 'Egress', ['443-443 ImageEndpoints', '443-443 s3']),
  hasRules('no component connects to the run worker', 'Run', 'Ingress', []),
  hasRules('the run worker reaches sandboxes, table, objects and queues', 'Run', 'Egress', [
    '443-443 QueueEndpoint',
    '443-443 dynamodb',
    '443-443 s3',
    '8700-8700 Sandbox',
  ]),
  hasRules('only sandboxes reach the image endpoints', 'ImageEndpoints', 'Ingress', ['443-443 Sandbox']),
  hasRules('only the run worker reaches the queue endpoint', 'QueueEndpoint', 'Ingress', ['443-443 Run']),
  hasRules('the image endpoints open no connection', 'ImageEndpoints', 'Egress', []),
  hasRules('the queue endpoint opens no connection', 'QueueEndpoint', 'Egress', []),
  {
    title: 'every group has an outbound rule, so that EC2 does not add one to every destination',
    holds: (t) => all(t, 'AWS::EC2::SecurityGroup').every((g) => list(at(g, 'Properties.SecurityGroupEgress')).length > 0),
    break: (t) => set(group('Sandbox')(t), 'Properties.SecurityGroupEgress', undefined),
  },
  {
    title: 'no rule names the whole internet',
    holds: (t) =>
      !says(
        [...all(t, 'AWS::EC2::SecurityGroup'), ...all(t, 'AWS::EC2::SecurityGroupEgress'), ...all(t, 'AWS::EC2::SecurityGroupIngress')],
        '/0"',
      ),
    break: (t) => set(group('Run')(t), 'Properties.SecurityGroupEgress.0', { IpProtocol: '-1', CidrIp: '0.0.0.0/0' }),
  },
  {
    title: 'the DNS firewall blocks every name but those that are allowed',
    holds: (t) => {
      const [allow, block] = list(at(ruleGroup(t), 'Properties.FirewallRules')).toSorted(
        (a, b) => Number(at(a, 'Priority')) - Number(at(b, 'Priority')),
      )
      return (
        at(allow, 'Action') === 'ALLOW' &&
        says(allow, 'AllowedNames') &&
        at(block, 'Action') === 'BLOCK' &&
        says(block, 'AllNames') &&
        same(names('AllNames')(t).Properties.Domains, ['*'])
      )
    },
    break: (t) => set(ruleGroup(t), 'Properties.FirewallRules.1.Action', 'ALERT'),
  },
  {
    title: 'the allowed names are six, exact and of AWS',
    holds: (t) =>
      list(names('AllowedNames')(t).Properties.Domains).length === 6 &&
      list(names('AllowedNames')(t).Properties.Domains).every((name) => !says(name, '*') && says(name, '.amazonaws.com"')),
    break: (t) => void list(names('AllowedNames')(t).Properties.Domains).push('*.amazonaws.com'),
  },
  value(
    "redirections of allowed names are trusted: AWS's own lead on",
    ruleGroup,
    'Properties.FirewallRules.0.FirewallDomainRedirectionAction',
    'TRUST_REDIRECTION_DOMAIN',
    'INSPECT_REDIRECTION_DOMAIN',
  ),
  {
    title: 'the DNS firewall stands before this network',
    holds: (t) =>
      says(only(t, 'AWS::Route53Resolver::FirewallRuleGroupAssociation').Properties.VpcId, 'Vpc') &&
      says(only(t, 'AWS::Route53Resolver::FirewallRuleGroupAssociation').Properties.FirewallRuleGroupId, 'DnsFirewallRules'),
    break: (t) => set(only(t, 'AWS::Route53Resolver::FirewallRuleGroupAssociation'), 'Properties.VpcId', 'vpc-another'),
  },
  value('refused packets are logged', (t) => only(t, 'AWS::EC2::FlowLog'), 'Properties.TrafficType', 'REJECT', 'ACCEPT'),
]
