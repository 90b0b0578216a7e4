import { describe, expect, it } from 'vitest'
import { mimeOf } from '../../../services/core/files/mime.ts'

describe('mimeOf', () => {
  it.each([
    ['a.csv', 'text/csv'],
    ['plots/B.PNG', 'image/png'],
    ['archive.tar.gz', 'application/gzip'],
    ['a', 'application/octet-stream'],
    ['a.', 'application/octet-stream'],
  ])('takes %s for %s', (path, mime) => expect(mimeOf(path)).toBe(mime))

  it.each(Object.getOwnPropertyNames(Object.prototype))('takes a file called %s for bytes', (name) => {
    expect(mimeOf(name)).toBe('application/octet-stream')
    expect(mimeOf(`a.${name}`)).toBe('application/octet-stream')
  })
})
