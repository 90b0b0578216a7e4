import fc from 'fast-check'
import { expect, it } from 'vitest'
import { displayValue, MESSAGE, parseHostileJson } from '../../../services/model/scan-json.ts'
import { parseJson } from '../../../services/http/parse-json.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { ServiceError } from '../../../services/model/errors.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

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

it.each([
  ['the key __proto__', '{"a":{"\\u005f_proto__":{"x":1},"b":2}}', 'The JSON body has the key "__proto__". Rename or remove this key.'],
  ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, 'The JSON body is nested deeper than 64 levels. Send a flatter document.'],
  [
    'too many values',
    JSON.stringify(Array(LIMITS.maxJsonValues).fill(0)),
    'The JSON body has more than 300000 values. Send fewer entries, or upload the data as a file.',
  ],
  [
    'too many keys in one object',
    JSON.stringify(Object.fromEntries(Array.from({ length: LIMITS.maxJsonKeys + 1 }, (_, index) => [index, 0]))),
    'The JSON body has an object with more than 10000 keys. Send a list, or upload the data as a file.',
  ],
])('refuses %s and says what to do', (_, text, message) => {
  expect(() => parseJson(encode(text))).toThrow(expect.objectContaining({ code: 'invalid_json', message }))
  expect(parseHostileJson(text)).toBeUndefined()
})

it('accepts 20,000 messages as a response returns them, and 50 MB of text', () => {
  const content = [{ type: 'output_text', text: 'hello', annotations: [], logprobs: [] }]
  const message = { id: 'msg_0123456789', type: 'message', status: 'completed', role: 'assistant', content }
  const document = { model: 'm', input: Array.from({ length: 20_000 }, () => message) }
  expect(parseJson(encode(JSON.stringify(document)))).toEqual(document)
  expect(parseJson(encode(JSON.stringify({ input: 'é"'.repeat(10_000_000) })))).toMatchObject({ input: expect.stringContaining('é"é') })
})

it('has a lower bound for messages of protocols', () => {
  const list = encode(JSON.stringify(Array(LIMITS.maxMessageValues).fill(0)))
  expect(() => parseJson(list, MESSAGE)).toThrow('more than 10000 values')
  expect(parseJson(list)).toHaveLength(LIMITS.maxMessageValues)
})

it('accepts __proto__ in text', () => {
  expect(parseJson(encode('{"code":"a.__proto__ = {\\"__proto__\\": 1}"}'))).toEqual({ code: 'a.__proto__ = {"__proto__": 1}' })
})

it('refuses a million brackets within the time limit', () => {
  const startedAt = performance.now()
  expect(() => parseJson(encode('['.repeat(1_000_000)))).toThrow('nested deeper')
  expect(performance.now() - startedAt).toBeLessThan(20_000)
})

it('leaves a stored display as text when it is nested too deep, has too many values, or is not JSON', () => {
  const shown = (text: string): unknown => displayValue(Buffer.from(text))
  expect(shown('{"data":[1,2]}')).toEqual({ data: [1, 2] })
  for (const text of ['['.repeat(100_000) + ']'.repeat(100_000), `[${'0,'.repeat(1_000_001)}0]`, '{"__proto__":1}', '{'])
    expect(shown(text) === text).toBe(true)
})
