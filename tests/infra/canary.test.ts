import { describe, expect, it } from 'vitest'
import { METRIC_NAMESPACE } from '../../services/adapters/storage/json-log.ts'
import { all, at, list, named, only, says } from './property.ts'
import { synthesise, type Resource, type Templates } from './synthesise.ts'

const defaults = synthesise()
const off = synthesise({ deployment: { canaryMinutes: 0 } })
const RELEASED = ['api', 'chat', 'run']
const alias = (t: Templates, name: string): Resource => named(t, 'service', `${name}Live`, 'AWS::Lambda::Alias')
const version = (t: Templates, name: string): [string, Resource] => {
  const found = Object.entries(t.service.Resources).find(
    ([id, { Type }]) => id.startsWith(`${name}CurrentVersion`) && Type === 'AWS::Lambda::Version',
  )
  if (found === undefined) throw new Error(`${name} has no version`)
  return found
}
const group = (name: string): Resource => named(defaults, 'service', `Canary${name}`, 'AWS::CodeDeploy::DeploymentGroup')
const codeDeploy = (t: Templates): Resource[] => Object.values(t.service.Resources).filter(({ Type }) => Type.startsWith('AWS::CodeDeploy'))

describe.each([
  ['with a canary', defaults],
  ['without one', off],
])('the aliases %s', (_, templates) => {
  it('exist for api, chat and run, and are what queues and the function URL invoke', () => {
    expect(all(templates, 'AWS::Lambda::Alias').map(({ Properties }) => Properties['Name'])).toEqual(['live', 'live', 'live'])
    const url = only(templates, 'AWS::Lambda::Url')
    expect(url.Properties['Qualifier']).toBe('live')
    expect(says(url.Properties['TargetFunctionArn'], 'api')).toBe(true)
    const mappings = all(templates, 'AWS::Lambda::EventSourceMapping').map(({ Properties }) => JSON.stringify(Properties['FunctionName']))
    for (const name of ['chat', 'run']) {
      const own = mappings.filter((target) => target.includes(`"${name}`))
      expect(own).toHaveLength(1)
      expect(own[0]).toContain(':live')
    }
    const calls = all(templates, 'AWS::Lambda::Permission').filter(({ Properties }) => Properties['Principal'] === '*')
    expect(calls).toHaveLength(2)
    expect(calls.every(({ Properties }) => says(Properties['FunctionName'], 'apiLive'))).toBe(true)
  })

  it('point to a version that the first deployment creates, and that its roll-back deletes', () => {
    for (const name of RELEASED) {
      const [id, { DeletionPolicy, UpdateReplacePolicy }] = version(templates, name)
      expect(at(alias(templates, name), 'Properties.FunctionVersion.Fn::GetAtt')).toEqual([id, 'Version'])
      // A retained version of the run worker would hold the network interfaces of a network that is to be removed.
      expect([name, DeletionPolicy, UpdateReplacePolicy]).toEqual(
        name === 'run' ? [name, 'Delete', 'Delete'] : [name, 'RetainExceptOnCreate', 'Retain'],
      )
    }
  })
})

describe('a new version', () => {
  it('is published when code or variables change, and not for a setting outside of versions', () => {
    const ids = (changes: Record<string, unknown>) => RELEASED.map((name) => version(synthesise(changes), name)[0])
    const before = ids({})
    const changed = ids({ models: { list: [{ name: 'small' }] } })
    expect(RELEASED.filter((_, place) => changed[place] !== before[place])).toEqual(['api', 'chat'])
    expect(ids({ deployment: { canaryMinutes: 0 } })).toEqual(before)
  })

  it('serves 10 % for five minutes by default, and the rest if no alarm went off', () => {
    expect(only(defaults, 'AWS::CodeDeploy::Application').Properties['ComputePlatform']).toBe('Lambda')
    for (const name of RELEASED) {
      expect(group(name).Properties).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        AutoRollbackConfiguration: { Enabled: true, Events: expect.arrayContaining(['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM']) },
        AlarmConfiguration: { Enabled: true, Alarms: [{ Name: { Ref: expect.stringMatching(`^Canary${name}failures`) } }] },
      })
      const update = (alias(defaults, name) as Resource & { UpdatePolicy?: unknown }).UpdatePolicy
      expect(says(at(update, 'CodeDeployLambdaAliasUpdate.DeploymentGroupName'), `Canary${name}`)).toBe(true)
    }
  })

  it('is rolled back when calls of the alias fail, and when it reports failed requests or messages', () => {
    for (const [name, metric] of [
      ['api', 'ApiFailed'],
      ['chat', 'MessageFailed'],
      ['run', 'MessageFailed'],
    ] as const) {
      const alarm = named(defaults, 'service', `Canary${name}failures`, 'AWS::CloudWatch::Alarm')
      const read = list(alarm.Properties['Metrics']).map((each) => at(each, 'MetricStat.Metric'))
      expect(read).toContainEqual(expect.objectContaining({ Namespace: METRIC_NAMESPACE, MetricName: metric }))
      const errors = read.find((each) => at(each, 'MetricName') === 'Errors')
      expect(
        says(
          list(at(errors, 'Dimensions')).find((each) => at(each, 'Name') === 'Resource'),
          ':live',
        ),
      ).toBe(true)
      expect(alarm.Properties).toMatchObject({ EvaluationPeriods: 1, TreatMissingData: 'notBreaching' })
    }
  })

  it('is shifted by a role that CodeDeploy alone assumes', () => {
    const role = named(defaults, 'service', 'CanaryRole', 'AWS::IAM::Role')
    expect(says(role.Properties['AssumeRolePolicyDocument'], 'codedeploy.amazonaws.com')).toBe(true)
    expect(list(role.Properties['ManagedPolicyArns'])).toHaveLength(1)
    expect(says(role.Properties['ManagedPolicyArns'], 'AWSCodeDeployRoleForLambdaLimited')).toBe(true)
  })

  it('serves all traffic at once with canaryMinutes 0, and otherwise a share for the configured minutes', () => {
    expect(codeDeploy(off)).toEqual([])
    expect(RELEASED.map((name) => (alias(off, name) as { UpdatePolicy?: unknown }).UpdatePolicy)).toEqual([undefined, undefined, undefined])
    const long = synthesise({ deployment: { canaryMinutes: 30 } })
    expect(says(codeDeploy(long), 'LambdaCanary10Percent30Minutes')).toBe(true)
  })
})
