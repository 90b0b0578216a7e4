import { describe, expect, it } from 'vitest'
import { mimeOf } from '../../../services/core/files/mime.ts'

describe('mimeOf', () => {
  it.each([
    ['a.csv', 'text/csv'],
    ['plots/B.PNG', 'image/png'],
    ['archive.tar.gz', 'application/gzip'],
    ['a', 'application/octet-stream'],
    ['a.', 'application/octet-stream'],
  ])('maps %s to %s', (path, mime) => expect(mimeOf(path)).toBe(mime))

  it.each(Object.getOwnPropertyNames(Object.prototype))('maps a file named %s to application/octet-stream', (name) => {
    expect(mimeOf(name)).toBe('application/octet-stream')
    expect(mimeOf(`a.${name}`)).toBe('application/octet-stream')
  })
})
