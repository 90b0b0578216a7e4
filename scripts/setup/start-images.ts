import { parseArgs } from 'node:util'
import { ensureSandboxImage } from './sandbox-image.ts'
import type { SetupConfig } from './config.ts'
import { IMAGE_VARIANTS, type ImageVariant } from '../../infra/build/image-inputs.ts'
import { SetupError, type Progress } from './progress.ts'

/** What a server that names no image gives its containers. */
const DEFAULT_VARIANT = 'standard'

/** The value of `--image`; null without it. Throws SetupError. */
export function chosenVariant(args: readonly string[]): ImageVariant | null {
  const { image } = parseArgs({ args: [...args], options: { image: { type: 'string' } }, strict: false }).values
  if (image === undefined) return null
  const known = IMAGE_VARIANTS.find((variant) => variant === image)
  if (known === undefined) throw new SetupError(`There is no image ${String(image)}. Choose one of ${IMAGE_VARIANTS.join(', ')}.`)
  return known
}

/**
 * The images with which `npm start` serves, as environment variables. `standard` is the default where it exists. On a fresh machine the server
 * starts with `slim`, which is built in minutes, and builds `standard` beside its work. Throws SetupError.
 */
export async function startImages(
  args: readonly string[],
  options: { readonly mayInstall: boolean; readonly config: SetupConfig },
  { findImage, progress }: { readonly findImage: (variant: ImageVariant) => Promise<string | null>; readonly progress: Progress },
): Promise<Readonly<Record<string, string>>> {
  const chosen = chosenVariant(args)
  const present = await Promise.all(IMAGE_VARIANTS.map(async (variant) => [variant, await findImage(variant)] as const))
  const found: Partial<Record<ImageVariant, string>> = Object.fromEntries(present.filter(([, reference]) => reference !== null))
  const first = chosen ?? (found[DEFAULT_VARIANT] === undefined ? 'slim' : DEFAULT_VARIANT)
  const reference = found[first] ?? (await ensureSandboxImage(progress, { ...options, variant: first }))
  const images = { ...found, [first]: reference }
  return {
    CELLBLOCK_SANDBOX_IMAGE: reference,
    CELLBLOCK_IMAGES: Object.entries(images)
      .map(([name, value]) => `${name}=${value}`)
      .join(','),
    CELLBLOCK_DEFAULT_IMAGE: first,
    ...(chosen === null && first !== DEFAULT_VARIANT && { CELLBLOCK_BUILD_IMAGE: DEFAULT_VARIANT }),
  }
}
