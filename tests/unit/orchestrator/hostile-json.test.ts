import { assert, json, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHostileJson } from '../../../services/adapters/supervisor-client/hostile-json.ts'

const parse = (text: string): unknown => parseHostileJson(Buffer.from(text))

describe('JSON from a sandbox', () => {
  it('is parsed like JSON.parse', () => {
    assert(
      property(json({ maxDepth: 20 }), (text) => {
        expect(parse(text)).toEqual(JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value)))
      }),
    )
  })

  it('is accepted at 64 levels and refused at 65, not counting brackets in strings', () => {
    expect(parse('['.repeat(64) + ']'.repeat(64))).toBeInstanceOf(Array)
    expect(() => parse('['.repeat(65) + ']'.repeat(65))).toThrow(/deeper than 64/)
    expect(() => parse('{"a":'.repeat(65) + '1' + '}'.repeat(65))).toThrow(/deeper than 64/)
    expect(parse(`"${'['.repeat(100)}"`)).toBe('['.repeat(100))
    expect(parse(String.raw`{"a":"\"[[\\","b":"\\\\"}`)).toEqual({ a: String.raw`"[[`.concat('\\'), b: '\\\\' })
  })

  it('is refused with a million open brackets', () => {
    expect(() => parse('['.repeat(1_000_000))).toThrow(/deeper/)
    expect(() => parse('"' + '['.repeat(1_000_000))).toThrow(/not JSON/)
  })

  it.each([
    '{"__proto__":{"polluted":1},"a":1}',
    String.raw`{"\u005f_proto__":{"polluted":1},"a":1}`,
    String.raw`{"__prot\u006F__":{"polluted":1},"a":1}`,
    String.raw`{"__\u0070roto__":{"polluted":1},"a":1}`,
    String.raw`{"__p\u0072oto__":1,"__pro\u0074o__":{"polluted":1},"a":1}`,
    '{"a":1,"b":[{"__proto__":null}]}',
  ])('drops __proto__: %s', (text) => {
    const value = parse(text)
    const copy = Object.assign({}, value)
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(JSON.stringify(value)).not.toContain('__proto__')
    expect(copy).toHaveProperty('a', 1)
    expect(copy).not.toHaveProperty('polluted')
  })

  it.each(['', 'nul', '{"a":}', '{"a":1', '{"a":1}{"b":2}', "{'a':1}", '\u0000'])('refuses what is not JSON: %j', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ name: 'SupervisorError', code: 'protocol' }))
  })
})
