import { expect, it } from 'vitest'
import * as z from 'zod'
import { toolSchema } from '../../../services/wires/mcp/tool-schema.ts'

const given = z.object({ code: z.string().min(1), seconds: z.int().optional() })
const { '~standard': standard } = toolSchema(given)

it('makes the JSON Schema of the arguments once for each draft', () => {
  const schema = standard.jsonSchema.input({ target: 'draft-2020-12' })
  expect(schema).toEqual(z.toJSONSchema(given, { target: 'draft-2020-12', io: 'input' }))
  expect(standard.jsonSchema.input({ target: 'draft-2020-12' })).toBe(schema)
  expect(standard.jsonSchema.input({ target: 'draft-07' })).toMatchObject({ $schema: expect.stringContaining('draft-07') })
})

it('checks arguments as the schema itself does', async () => {
  expect(await standard.validate({ code: '1' })).toEqual({ value: { code: '1' } })
  expect(await standard.validate({ code: '' })).toMatchObject({ issues: [{ path: ['code'] }] })
})
