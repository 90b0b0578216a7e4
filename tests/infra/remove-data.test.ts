import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { Cellblock } from '../../infra/cellblock.ts'
import { context, PUSHED_ASSETS, type Resource } from './synthesise.ts'

function dataStack(removesData: boolean) {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-stack-trace': true } })
  const { data } = new Cellblock(app, 'Cellblock', { settings: context['cellblock'], assets: PUSHED_ASSETS, removesData }).stacks
  const { Resources: resources, Outputs: outputs } = Template.fromStack(data).toJSON() as {
    Resources: Record<string, Resource>
    Outputs: Record<string, unknown>
  }
  return { resources: Object.values(resources), outputs, isProtected: data.terminationProtection ?? false }
}
const kept = (resources: readonly Resource[]) =>
  resources.filter(({ DeletionPolicy: policy }) => policy === 'RetainExceptOnCreate').map(({ Type }) => Type)
const table = (resources: readonly Resource[]) => resources.find(({ Type }) => Type === 'AWS::DynamoDB::Table')?.Properties

describe('the stack with the data', () => {
  it('retains tenant data when it is deleted', () => {
    const { resources } = dataStack(false)
    expect(kept(resources).toSorted()).toEqual([
      'AWS::DynamoDB::Table',
      'AWS::KMS::Key',
      'AWS::S3::Bucket',
      'AWS::S3::Bucket',
      'AWS::SecretsManager::Secret',
    ])
    expect(table(resources)).toMatchObject({ DeletionProtectionEnabled: true })
  })

  it('leaves termination protection to the deploy command, so that a failed first deployment can be deleted', () => {
    expect(dataStack(false).isProtected).toBe(false)
  })

  it('deletes everything with removesData', () => {
    const { resources, isProtected } = dataStack(true)
    expect(kept(resources)).toEqual([])
    expect(table(resources)).toMatchObject({ DeletionProtectionEnabled: false })
    expect(isProtected).toBe(false)
  })

  it('stops the access logs with removesData, which would arrive in a bucket that has been emptied', () => {
    const logged = (removesData: boolean) =>
      dataStack(removesData).resources.filter(
        (one) => one.Type === 'AWS::S3::Bucket' && one.Properties['LoggingConfiguration'] !== undefined,
      )
    expect([logged(false).length, logged(true).length]).toEqual([1, 0])
  })

  it('outputs the buckets that a removal empties and the table of the command line', () => {
    expect(Object.keys(dataStack(false).outputs)).toEqual(expect.arrayContaining(['TableName', 'ObjectBucket', 'AccessLogBucket']))
  })
})
