import { describe, expect, it } from 'vitest'
import { all, at, list, named, only, says } from './property.ts'
import { synthesise, STACKS } from './synthesise.ts'

const without = synthesise()
const found = synthesise({ api: { uploadService: true } })
const distribution = only(found, 'AWS::CloudFront::Distribution')
const origins = list(at(distribution, 'Properties.DistributionConfig.Origins'))
const upload = origins.find((origin) => at(origin, 'Id') === 'uploads')
const task = all(found, 'AWS::ECS::TaskDefinition').find(({ Properties }) => Properties['Family'] === 'cellblock-prod-uploads')
const groups = (name: string) => named(found, 'service', `Uploads${name}`, 'AWS::EC2::SecurityGroup')

describe('the upload service', () => {
  it('is an origin of the distribution, inside a VPC, which shows the origin secret', () => {
    expect(at(upload, 'VpcOriginConfig.VpcOriginId')).toBeDefined()
    expect(at(upload, 'OriginCustomHeaders.0.HeaderName')).toBe('x-cellblock-origin')
    expect(says(at(upload, 'OriginCustomHeaders.0.HeaderValue'), '{{resolve:secretsmanager:')).toBe(true)
    expect(says(only(found, 'AWS::CloudFront::Function').Properties['FunctionCode'], 'cf.selectRequestOriginById')).toBe(true)
  })

  it('has an origin whose name does not follow the order of behaviours', () => {
    const ids = Object.entries(found.service.Resources).flatMap(([id, { Type }]) => (Type === 'AWS::CloudFront::VpcOrigin' ? [id] : []))
    expect(ids).toEqual([expect.stringMatching(/^EdgeUploadOrigin[0-9A-F]{8}$/)])
  })

  it('starts up to three tasks when processors or memory are busy, and one without', () => {
    expect(at(task, 'Properties.Memory')).toBe('2048')
    const target = only(found, 'AWS::ApplicationAutoScaling::ScalableTarget')
    expect([at(target, 'Properties.MinCapacity'), at(target, 'Properties.MaxCapacity')]).toEqual([1, 3])
    const metrics = all(found, 'AWS::ApplicationAutoScaling::ScalingPolicy').map((policy) =>
      at(policy, 'Properties.TargetTrackingScalingPolicyConfiguration.PredefinedMetricSpecification.PredefinedMetricType'),
    )
    expect(metrics.toSorted()).toEqual(['ECSServiceAverageCPUUtilization', 'ECSServiceAverageMemoryUtilization'])
  })

  it('is not reachable from the internet: an internal load balancer, and a task that accepts the load balancer only', () => {
    expect(only(found, 'AWS::ElasticLoadBalancingV2::LoadBalancer').Properties['Scheme']).toBe('internal')
    expect(groups('TaskGroup').Properties['SecurityGroupIngress']).toBeUndefined()
    const ingress = all(found, 'AWS::EC2::SecurityGroupIngress').filter((rule) => says(rule.Properties['GroupId'], 'UploadsTaskGroup'))
    expect(ingress.map(({ Properties }) => says(Properties['SourceSecurityGroupId'], 'UploadsBalancerGroup'))).toEqual([true])
  })

  it('has the permissions and the variables of the API, and its own network, cluster and roles', () => {
    const role = named(found, 'service', 'UploadsRole', 'AWS::IAM::Role')
    const api = named(found, 'service', 'apirole', 'AWS::IAM::Role')
    const actions = (resource: typeof role) =>
      list(at(resource, 'Properties.Policies.0.PolicyDocument.Statement'))
        .flatMap((statement) => list(at(statement, 'Action')))
        .filter((action) => !String(action).startsWith('logs:'))
    expect(actions(role)).toEqual(actions(api))
    const variables = list(at(task, 'Properties.ContainerDefinitions.0.Environment')).map((entry) => at(entry, 'Name'))
    const apiFunction = all(found, 'AWS::Lambda::Function').find(({ Properties }) => Properties['FunctionName'] === 'cellblock-prod-api')
    const names = Object.keys(at(apiFunction, 'Properties.Environment.Variables') as object)
    // A task counts its own open streams, and sees each disconnection.
    expect([...variables, 'OPEN_CALLS'].toSorted()).toEqual([...names, 'PORT'].toSorted())
    expect(at(task, 'Properties.ContainerDefinitions.0.ReadonlyRootFilesystem')).toBe(true)
  })

  it('changes nothing in the network, the task definitions and the data of the sandboxes', () => {
    for (const stack of STACKS.filter((name) => name !== 'service' && name !== 'operations')) expect(found[stack]).toEqual(without[stack])
    const sandboxes = (templates: typeof found) =>
      Object.entries(templates.service.Resources).filter(([id]) => id.startsWith('Sandboxes') || /^(run|place|chat|reconciler)/.test(id))
    expect(sandboxes(found)).toEqual(sandboxes(without))
  })

  it('lets a large upload finish before a task stops, and keeps one task alive during a deployment', () => {
    expect(at(task, 'Properties.ContainerDefinitions.0.StopTimeout')).toBe(120)
    expect(at(only(found, 'AWS::ECS::Service'), 'Properties.DeploymentConfiguration.MinimumHealthyPercent')).toBe(100)
  })
})

describe('without the upload service', () => {
  it('nothing of it is deployed, and the distribution refuses large bodies itself', () => {
    expect(all(without, 'AWS::ECS::Service')).toEqual([])
    expect(all(without, 'AWS::ElasticLoadBalancingV2::LoadBalancer')).toEqual([])
    const { FunctionCode } = only(without, 'AWS::CloudFront::Function').Properties
    expect(says(FunctionCode, 'request_too_large')).toBe(true)
    expect(says(FunctionCode, 'selectRequestOriginById')).toBe(false)
  })
})
