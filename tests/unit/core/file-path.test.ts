import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../services/model/errors.ts'
import { normalizeFilePath } from '../../../services/model/files/file-path.ts'

describe('normalizeFilePath', () => {
  it.each([
    ['a.csv', 'a.csv'],
    ['/mnt/data/plots/a b.png', 'plots/a b.png'],
    ['e\u0301t\u00e9.txt', '\u00e9t\u00e9.txt'],
    ['日本/データ.csv', '日本/データ.csv'],
    ['...hidden', '...hidden'],
    // Persian, an emoji of two people's parts, Hindi: joiners belong to the spelling.
    ['\u06af\u0632\u0627\u0631\u0634\u200c\u0647\u0627.csv', '\u06af\u0632\u0627\u0631\u0634\u200c\u0647\u0627.csv'],
    ['👩\u200d💻 notes.txt', '👩\u200d💻 notes.txt'],
    ['क्\u200dष.txt', 'क्\u200dष.txt'],
    // Direction marks, as WhatsApp and office programs write them.
    ['\u200eIMG.jpg', '\u200eIMG.jpg'],
    ['\u200f\u061cא.txt', '\u200f\u061cא.txt'],
  ])('normalizes %j', (raw, path) => expect(normalizeFilePath(raw)).toBe(path))

  it.each([
    '',
    '/',
    '../../x',
    'a/../b',
    './a',
    'a//b',
    '/etc/passwd',
    'a\\b',
    'a\u0000b',
    'a\nb',
    'evil\u202egnp.exe',
    'evil\u2067gnp.exe',
    'a\u200bb',
    'x'.repeat(256),
    `${'d/'.repeat(520)}x`,
    'CON',
    'nul.txt',
    'a.',
    'a ',
    '\ud800',
    '\ufeffx',
  ])('refuses %j with a reason', (raw) => {
    expect(() => normalizeFilePath(raw)).toThrow(ServiceError)
    expect(() => normalizeFilePath(raw)).toThrow(/^The file name .+\. Use /)
  })

  it('is idempotent, and its result stays inside the folder', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (raw) => {
        let path: string
        try {
          path = normalizeFilePath(raw)
        } catch (error) {
          return error instanceof ServiceError
        }
        return (
          normalizeFilePath(path) === path &&
          !path.startsWith('/') &&
          path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
        )
      }),
      { numRuns: 2_000 },
    )
  })
})
