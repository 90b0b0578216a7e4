import { contentHash, listFiles } from './content-hash.ts'

/** The variants of the sandbox image: `xvfb` adds a virtual display. */
export type ImageVariant = 'plain' | 'xvfb'

/** Relative to runtime-image/. */
export const IMAGE_ROOTS = ['Dockerfile', 'requirements.lock', 'supervisor/cellblock_supervisor']

/** Paths relative to runtime-image/ of every file that the image is made from, sorted; bytecode is left out. */
export const listImageInputs = (folder: string): Promise<string[]> => listFiles(folder, IMAGE_ROOTS)

/** The image's tag: the same inputs give the same tag on every machine. */
export async function imageTag(folder: string, variant: ImageVariant): Promise<string> {
  const hash = await contentHash(folder, await listImageInputs(folder))
  return `cellblock-sandbox:${hash.slice(0, 12)}${variant === 'plain' ? '' : `-${variant}`}`
}
