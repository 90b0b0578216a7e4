import fc from 'fast-check'
import { expect, it } from 'vitest'
import { scanJson, type JsonBounds } from '../../../services/model/scan-json.ts'

const NONE: JsonBounds = { maxDepth: 1_000, maxValues: Infinity, maxKeys: Infinity }
const scan = (text: string, bounds: Partial<JsonBounds> = {}) => scanJson(Buffer.from(text), { ...NONE, ...bounds })

const childrenOf = (value: unknown): readonly unknown[] | null =>
  typeof value === 'object' && value !== null ? Object.values(value) : null
const depthOf = (value: unknown): number => {
  const children = childrenOf(value)
  return children === null ? 0 : 1 + Math.max(0, ...children.map(depthOf))
}
const valuesOf = (value: unknown): number => {
  const children = childrenOf(value)
  return children === null ? 1 : Math.max(2, 1 + children.reduce<number>((sum, child) => sum + valuesOf(child), 0))
}
const keysOf = (value: unknown): number => {
  const children = childrenOf(value)
  return children === null ? 0 : Math.max(Array.isArray(value) ? 0 : children.length, ...children.map(keysOf))
}

it('measures any document, with and without spaces', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(0, 2), (value, indent) => {
      fc.pre(!JSON.stringify(value).includes('__proto__'))
      expect(scan(JSON.stringify(value, null, indent))).toEqual({
        depth: depthOf(value),
        values: valuesOf(value),
        keys: keysOf(value),
        hasProtoKey: false,
      })
    }),
  )
})

it('finds the end of a string of any length with quotes and backslashes', () => {
  const piece = fc.constantFrom('"', '\\', 'x', 'é', ',', '[', 'y'.repeat(70))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 80 }), (pieces) => {
      expect(scan(JSON.stringify({ a: pieces.join(''), b: [1, 2] }))).toMatchObject({ depth: 2, values: 5, keys: 2 })
    }),
  )
})

it.each([
  '__proto__',
  '\\u005f_proto__',
  '__pr\\u006fto__',
  '\\u005F\\u005fproto\\u005f_',
  '\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f',
])('finds the key %s, and not the same text as a value', (key) => {
  expect(JSON.parse(`"${key}"`)).toBe('__proto__')
  for (const text of [`{"${key}":1}`, `{"a":[{"b":{},"${key}" \n\t: {}}]}`, `[{"x":"${'y'.repeat(500)}","${key}":0}]`])
    expect(scan(text).hasProtoKey, text).toBe(true)
  for (const text of [`{"a":"${key}"}`, `["${key}","a"]`, `{"code":"x = {\\"${key}\\": 1}"}`, `{"a${key}":1,"${key}a":2}`])
    expect(scan(text).hasProtoKey, text).toBe(false)
})

it.each([
  ['depth', '['.repeat(1e6), { maxDepth: 64 }, { depth: 65 }],
  ['values of a list', `[${'0,'.repeat(1e6)}0]`, { maxValues: 1_000 }, { values: 1_001 }],
  ['values of objects', `[${'{},'.repeat(1e6)}0]`, { maxValues: 1_000 }, { values: 1_001 }],
  ['keys', `{${'"a":0,'.repeat(1e6)}"b":0}`, { maxKeys: 100 }, { keys: 101 }],
] as const)('ends at the bound of %s', (_, text, bounds, found) => {
  expect(scan(text, bounds)).toMatchObject(found)
})

it.each([
  ['a string', JSON.stringify('x'.repeat(5e6))],
  ['quotes', JSON.stringify('"'.repeat(25e5))],
  ['backslashes', JSON.stringify('\\'.repeat(25e5))],
  ['an open string', `"${'\\'.repeat(5e6)}`],
  ['colons after a key', `{"${'\\u0041'.repeat(9)}"${':'.repeat(5e6)}`],
  ['the start of the key', `{"__proto_x"${':"__proto_x"'.repeat(4e5)}`],
  ['an escaped start of the key', `{"\\u005f_x"${':"\\u005f_x"'.repeat(4e5)}`],
  ['spaces', ' '.repeat(5e6)],
])('takes time in proportion to the bytes of %s', (_, text) => {
  const bytes = Buffer.from(text)
  const before = process.threadCpuUsage()
  scanJson(bytes, NONE)
  // 25 ns for each byte; 1 to 10 ns were measured.
  expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan((bytes.byteLength * 25) / 1e6 + 30)
})
