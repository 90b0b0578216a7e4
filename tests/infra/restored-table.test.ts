import { expect, it } from 'vitest'
import { all, at, only, says } from './property.ts'
import { synthesise } from './synthesise.ts'

const defaults = synthesise()
const restored = synthesise({ data: { tableName: 'cellblock-prod-restored-1' } })

it('replaces the table of the stack by a restored one: variables, permissions, endpoint policy, alarms, output', () => {
  const names = all(restored, 'AWS::Lambda::Function').map((each) => at(each, 'Properties.Environment.Variables.TABLE_NAME'))
  expect(new Set(names)).toEqual(new Set(['cellblock-prod-restored-1']))
  const policies = all(restored, 'AWS::IAM::Role').filter(({ Properties }) => says(Properties['Policies'], 'dynamodb:GetItem'))
  expect(policies.length).toBe(
    all(defaults, 'AWS::IAM::Role').filter(({ Properties }) => says(Properties['Policies'], 'dynamodb:GetItem')).length,
  )
  expect(policies.filter(({ Properties }) => !says(Properties['Policies'], 'table/cellblock-prod-restored-1/index/due'))).toEqual([])
  const endpoint = all(restored, 'AWS::EC2::VPCEndpoint').filter(({ Properties }) => says(Properties['PolicyDocument'], 'dynamodb:GetItem'))
  expect(endpoint.map(({ Properties }) => says(Properties['PolicyDocument'], 'table/cellblock-prod-restored-1'))).toEqual([true])
  expect(says(restored.operations.Resources, 'cellblock-prod-restored-1')).toBe(true)
  expect(at(restored.data.Outputs, 'TableName.Value')).toBe('cellblock-prod-restored-1')
})

it('keeps the table of the stack and the exports that other stacks import, so that stacks can be deployed one by one, also back', () => {
  expect(only(restored, 'AWS::DynamoDB::Table')).toEqual(only(defaults, 'AWS::DynamoDB::Table'))
  const exported = (templates: typeof defaults) =>
    Object.values(templates.data.Outputs ?? {}).flatMap((output) => {
      const name = at(output, 'Export.Name')
      return name === undefined ? [] : [String(name)]
    })
  expect(exported(defaults).filter((name) => name.includes('Table')).length).toBeGreaterThan(0)
  expect(exported(restored)).toEqual(expect.arrayContaining(exported(defaults)))
})
