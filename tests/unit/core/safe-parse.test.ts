import { expect, it } from 'vitest'
import * as z from 'zod'
import { safeParse } from '../../../services/model/safe-parse.ts'

const HOSTILE: unknown = JSON.parse('{"length":[{"toString":0}]}')

it.each([
  ['text with a bound', z.string().max(5)],
  ['text that is not empty', z.string().min(1)],
  ['a list with a bound', z.array(z.string()).max(3)],
  ['a field', z.object({ a: z.union([z.string().max(5), z.array(z.string()).max(5)]) })],
])('refuses a value whose length has no primitive value: %s', (_, schema) => {
  for (const value of [HOSTILE, { a: HOSTILE }]) expect(safeParse(schema, value).success).toBe(false)
})

it('accepts what fits, and passes on a fault of the schema', () => {
  expect(safeParse(z.string().max(5), 'text')).toMatchObject({ success: true, data: 'text' })
  const faulty = z.string().refine(() => {
    throw new RangeError('a fault')
  })
  expect(() => safeParse(faulty, 'text')).toThrow('a fault')
})
