import { describe, expect, it } from 'vitest'
import { imageList, imagePoolList } from '../../../services/entries/local/config-lists.ts'

describe('lists in variables', () => {
  it('reads images and their pools, with spaces around names and values', () => {
    expect(imageList.parse('slim=repo/image:dev, full = repo/image:dev-full')).toEqual({
      slim: 'repo/image:dev',
      full: 'repo/image:dev-full',
    })
    expect(imagePoolList.parse('slim=1,full=20')).toEqual({ slim: 1, full: 20 })
  })

  it.each(['slim', 'slim=', '=1', 'Slim Image=1', 'slim=-1', 'slim=100', 'slim=one'])('refuses the pool %j', (text) => {
    expect(imagePoolList.safeParse(text).success).toBe(false)
  })

  it.each(['slim', 'slim=', '=repo/image:dev'])('refuses the image %j', (text) => {
    expect(imageList.safeParse(text).success).toBe(false)
  })
})
