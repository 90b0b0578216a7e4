import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attachment } from '../../../services/adapters/storage/objects/content-disposition.ts'

describe('the disposition of a download', () => {
  it('is one line of ASCII with one quoted name, whatever the file is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const header = attachment(name)
        expect(header).toMatch(/^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[A-Za-z0-9\-_.!~%]*$/)
        expect(header.split('"')).toHaveLength(3)
      }),
    )
  })

  it('keeps every well-formed name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        expect(decodeURIComponent(attachment(name).split("UTF-8''")[1] ?? '')).toBe(name)
      }),
    )
  })
})
