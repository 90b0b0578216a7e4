import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { buildStacks } from '../../infra/build-stacks.ts'
import { readConfig } from '../../infra/config.ts'
import { context, type Resource } from './synthesise.ts'

function dataStack(removesData: boolean) {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': [], 'aws:cdk:disable-stack-trace': true } })
  const { data } = buildStacks(app, readConfig(context['cellblock']), '0123456789ab', { removesData })
  const { Resources: resources, Outputs: outputs } = Template.fromStack(data).toJSON() as {
    Resources: Record<string, Resource>
    Outputs: Record<string, unknown>
  }
  return { resources: Object.values(resources), outputs, isProtected: data.terminationProtection }
}
const kept = (resources: readonly Resource[]) =>
  resources.filter(({ DeletionPolicy: policy }) => policy === 'Retain').map(({ Type }) => Type)
const table = (resources: readonly Resource[]) => resources.find(({ Type }) => Type === 'AWS::DynamoDB::Table')?.Properties

describe('the stack with the data', () => {
  it('keeps what tenants own when it goes, and does not go by accident', () => {
    const { resources, isProtected } = dataStack(false)
    expect(kept(resources).toSorted()).toEqual([
      'AWS::DynamoDB::Table',
      'AWS::KMS::Key',
      'AWS::S3::Bucket',
      'AWS::S3::Bucket',
      'AWS::SecretsManager::Secret',
    ])
    expect(table(resources)).toMatchObject({ DeletionProtectionEnabled: true })
    expect(isProtected).toBe(true)
  })

  it('takes everything with it once it was told so', () => {
    const { resources, isProtected } = dataStack(true)
    expect(kept(resources)).toEqual([])
    expect(table(resources)).toMatchObject({ DeletionProtectionEnabled: false })
    expect(isProtected).toBe(false)
  })

  it('names what a removal has to empty and what an operator makes tenants in', () => {
    expect(Object.keys(dataStack(false).outputs)).toEqual(expect.arrayContaining(['TableName', 'ObjectBucket', 'AccessLogBucket']))
  })
})
