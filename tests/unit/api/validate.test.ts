import * as z from 'zod'
import { expect, it } from 'vitest'
import { parseQuery, validate } from '../../../services/http/validate.ts'

const paramOf = (schema: z.ZodType, value: unknown): unknown => {
  try {
    validate(schema, value, 'body')
  } catch (error) {
    return error
  }
  return null
}

it('names the invalid field as OpenAI does', () => {
  const schema = z.object({ list: z.array(z.object({ a: z.string() })) })
  expect(paramOf(schema, { list: [{ a: 'x' }, { a: 1 }] })).toMatchObject({ code: 'invalid_request', param: 'list[1].a' })
  expect(paramOf(schema, 7)).toMatchObject({ code: 'invalid_request', param: null })
})

it('reports the error of the best matching variant', () => {
  const schema = z.object({ input: z.union([z.string(), z.array(z.object({ role: z.enum(['user']) }))], 'give a string or a list') })
  expect(paramOf(schema, { input: [{ role: 'robot' }] })).toMatchObject({ param: 'input[0].role' })
  expect(paramOf(schema, { input: 7 })).toMatchObject({
    param: 'input',
    message: "'input' is not valid: give a string or a list. /docs describes the accepted values.",
  })
})

it('parses a query with lists in brackets', () => {
  expect(parseQuery('http://x/y')).toEqual({})
  expect(parseQuery('http://x/y?a=1&b=&include[]=p&include[]=q')).toEqual({ a: '1', b: '', include: ['p', 'q'] })
  expect(parseQuery('/y?include%5B0%5D=p#a=2')).toEqual({ include: ['p'] })
  expect(Object.keys(parseQuery('/y?__proto__=1'))).toEqual(['__proto__'])
})

it('refuses a repeated name', () => {
  expect(() => parseQuery('/y?limit=1&limit=2')).toThrow("'limit' is given twice")
})
