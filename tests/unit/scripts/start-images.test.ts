import { expect, it } from 'vitest'
import { readSetupConfig } from '../../../scripts/setup/config.ts'
import type { ImageVariant } from '../../../infra/build/image-inputs.ts'
import { startImages } from '../../../scripts/setup/start-images.ts'

const setup = { mayInstall: false, config: readSetupConfig({}) }
const withImages = (present: readonly ImageVariant[], ...args: readonly string[]): Promise<Readonly<Record<string, string>>> =>
  startImages(args, setup, {
    findImage: async (variant) => (present.includes(variant) ? `sandbox:1-${variant}` : null),
    progress: () => undefined,
  })

it('serves standard by default where it exists, and offers the others', async () => {
  expect(await withImages(['slim', 'standard'], '--data', './data')).toEqual({
    CELLBLOCK_SANDBOX_IMAGE: 'sandbox:1-standard',
    CELLBLOCK_IMAGES: 'slim=sandbox:1-slim,standard=sandbox:1-standard',
    CELLBLOCK_DEFAULT_IMAGE: 'standard',
  })
})

it('serves slim and builds standard where standard is missing', async () => {
  expect(await withImages(['slim'])).toMatchObject({ CELLBLOCK_DEFAULT_IMAGE: 'slim', CELLBLOCK_BUILD_IMAGE: 'standard' })
})

it('keeps the image that --image names', async () => {
  const slim = await withImages(['slim'], '--image', 'slim')
  expect(slim).toMatchObject({ CELLBLOCK_DEFAULT_IMAGE: 'slim' })
  expect(slim).not.toHaveProperty('CELLBLOCK_BUILD_IMAGE')
  expect(await withImages(['slim', 'standard', 'full'], '--image', 'full')).toMatchObject({ CELLBLOCK_DEFAULT_IMAGE: 'full' })
})

it('names the known images when --image has another value', async () => {
  await expect(withImages(['slim'], '--image', 'huge')).rejects.toThrow('Choose one of slim, standard, full.')
})
