import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CodeArgumentReader } from '../../../services/workers/turn/answer/code-argument.ts'

function read(pieces: readonly string[]) {
  const reader = new CodeArgumentReader()
  const given = pieces.map((piece) => reader.push(piece)).join('')
  return { given, argument: reader.finish() }
}

describe('CodeArgumentReader', () => {
  it('streams the complete code for every split of the JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.boolean(), fc.integer({ min: 1, max: 7 }), (code, isAscii, size) => {
        const json = JSON.stringify({ code })
        const text = isAscii ? json.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`) : json
        const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []
        expect(read(pieces)).toEqual({ given: code, argument: { kind: 'code', code } })
      }),
      { numRuns: 300 },
    )
  })

  it('uses processor time proportional to the length of the code', () => {
    const code = 'x'.repeat(1_000_000)
    const pieces = JSON.stringify({ code }).match(/.{1,20}/g) ?? []
    const before = process.cpuUsage()
    const { given, argument } = read(pieces)
    // Takes 0.3 s. If each piece cost the length of all pieces before it, 25 GB would be copied.
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000)
    expect([given === code, argument.kind]).toEqual([true, 'code'])
  })

  it.each([
    ['another key first', '{"language":"python","code":"print(1)"}', 'print(1)'],
    ['a JSON string', '"print(1)"', 'print(1)'],
    ['plain Python', 'print("hi")\nx = 1', 'print("hi")\nx = 1'],
    ['raw line breaks in the string', '{"code": "a = 1\nprint(a)"}', 'a = 1\nprint(a)'],
  ])('understands %s', (_, raw, code) => {
    expect(read([raw]).argument).toEqual({ kind: 'code', code })
  })

  it.each([
    ['', 'the arguments are empty'],
    ['{"code": "print(', 'they are not valid JSON'],
    ['{"source": "x"}', 'there is no string "code" in them'],
    ['{"code": 5}', 'there is no string "code" in them'],
    ['[1]', 'they are not valid JSON'],
  ])('refuses %s', (raw, why) => {
    expect(read([raw]).argument).toMatchObject({ kind: 'unusable', why })
  })
})
