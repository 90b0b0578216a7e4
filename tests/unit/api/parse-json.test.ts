import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonDepth, parseJson } from '../../../services/http/parse-json.ts'
import { ServiceError } from '../../../services/model/errors.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

it('measures the depth of any document', () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => jsonDepth(JSON.stringify(value)) === depthOf(value)))
})

it('parses like JSON.parse when no key is __proto__', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      fc.pre(!text.includes('__proto__'))
      expect(parseJson(encode(text))).toEqual(JSON.parse(text))
    }),
  )
})

it('throws only its own error for invalid input', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        parseJson(bytes)
      } catch (error) {
        expect(error).toBeInstanceOf(ServiceError)
        expect(error).toMatchObject({ code: 'invalid_json', message: expect.stringMatching(/\.$/) })
      }
    }),
  )
})

it('drops __proto__ in every spelling at any depth', () => {
  for (const key of ['__proto__', '\\u005f_proto__', '__pr\\u006fto__', '\\u005F\\u005fproto\\u005f_'])
    expect(Object.getOwnPropertyNames((parseJson(encode(`{"a":{"${key}":{"x":1},"b":2}}`)) as { a: object }).a)).toEqual(['b'])
})

it('refuses a million brackets within the time limit', () => {
  const startedAt = performance.now()
  expect(() => parseJson(encode('['.repeat(1_000_000)))).toThrow('nested deeper')
  expect(performance.now() - startedAt).toBeLessThan(20_000)
})
