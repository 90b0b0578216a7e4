import { expect, it } from 'vitest'
import { BUILT_IN_IMAGES, ImageCatalogue, languagesOf, LANGUAGES } from '../../../services/model/containers/images.ts'
import { IMAGE_VARIANTS } from '../../../infra/build/image-inputs.ts'

it('offers every variant that the project builds', () => {
  expect(BUILT_IN_IMAGES).toEqual(IMAGE_VARIANTS)
})

it('resolves to the first offered name, else to the default', () => {
  const images = new ImageCatalogue({ slim: 'a:1', standard: 'a:2' }, 'slim')
  expect(images.resolve('standard', 'slim')).toEqual({ name: 'standard', reference: 'a:2' })
  expect(images.resolve('full', 'standard').name).toBe('standard')
  expect(images.resolve(null, undefined).name).toBe('slim')
})

it('replaces the default while it is in use', () => {
  const images = new ImageCatalogue({ slim: 'a:1' }, 'slim')
  expect(images.isCurrent('a:2')).toBe(false)
  images.add('standard', 'a:2', { asDefault: true })
  expect(images.defaultName).toBe('standard')
  expect([images.isCurrent('a:1'), images.isCurrent('a:2')]).toEqual([true, true])
})

it('refuses a default that is not offered', () => {
  expect(() => new ImageCatalogue({ slim: 'a:1' }, 'full')).toThrow('There is no image full among slim.')
})

it('names the languages of each image', () => {
  expect(languagesOf('slim')).toEqual(['python', 'bash'])
  expect(languagesOf('standard')).toContain('typescript')
  expect(languagesOf('full')).toEqual(LANGUAGES)
  expect(languagesOf('team')).toEqual(languagesOf('standard'))
})
