import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainText, PlainTextStream } from '../../../packages/cli/src/plain-text.ts'

const ESC = '\u001b'
const COLOURED = `${ESC}[31mred${ESC}[0m\tand\r\nmore é 漢\n`

describe('untrusted output', () => {
  it('keeps text, line ends and colours', () => {
    expect(plainText(COLOURED)).toBe(COLOURED)
  })

  it.each([
    ['the clipboard (OSC 52)', `${ESC}]52;c;aGFja2Vk\u0007`],
    ['the clipboard, ended by ST', `${ESC}]52;c;aGFja2Vk${ESC}\\`],
    ['the title', `${ESC}]0;title\u0007`],
    ['a hyperlink', `${ESC}]8;;https://evil.example${ESC}\\`],
    ['an 8-bit OSC', '\u009d0;title\u009c'],
    ['a device control string', `${ESC}P+q544e${ESC}\\`],
    ['a cursor movement', `${ESC}[2A`],
    ['a screen that is cleared', `${ESC}[2J${ESC}[H`],
    ['an 8-bit CSI', '\u009b2J'],
    ['a question to the terminal', `${ESC}[6n`],
    ['a reset', `${ESC}c`],
    ['a character set', `${ESC}(0`],
    ['a bell and a backspace', '\u0007\b'],
    ['a string that is never ended', `${ESC}]52;c;aGFja2Vk`],
  ])('removes %s', (_, sequence) => {
    expect(plainText(`a${sequence}`)).toBe('a')
    expect(plainText(`${COLOURED}${sequence}`)).toBe(COLOURED)
  })

  it('has no control sequences except colours, for every split into pieces', () => {
    const part = fc.oneof(
      fc.constantFrom(ESC, `${ESC}]`, `${ESC}[`, '52;c;', '\u0007', '\\', '\u009b', '\u009d', '\u009c', 'm', '31', ';', 'A', '\n'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const stream = new PlainTextStream()
        const plain = parts.map((piece) => stream.push(piece)).join('') + stream.end()
        // oxlint-disable-next-line no-control-regex -- control characters are what the test looks for
        const rest = plain.replaceAll(/\u001b\[[0-9;:]*m/g, '')
        // oxlint-disable-next-line no-control-regex -- as above
        expect(rest).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/)
      }),
      { numRuns: 2000 },
    )
  })
})
