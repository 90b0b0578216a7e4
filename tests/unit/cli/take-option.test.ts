import { expect, test } from 'vitest'
import { takeOption } from '../../../scripts/cli/take-option.ts'

test.each([
  [['tenants', 'list'], null, ['tenants', 'list']],
  [['--table', 'prod', 'tenants', 'list'], 'prod', ['tenants', 'list']],
  [['tenants', 'list', '--table=prod', '--json'], 'prod', ['tenants', 'list', '--json']],
  [['tenants', 'list', '--table'], '', ['tenants', 'list']],
])('parses the option of %j and leaves the rest', (args, value, rest) => {
  expect(takeOption(args, 'table')).toEqual({ value, rest })
})
