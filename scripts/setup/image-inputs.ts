import { contentHash, listFiles } from './content-hash.ts'

/** The variants of the sandbox image: `xvfb` adds a virtual display. */
export type ImageVariant = 'plain' | 'xvfb'

/** Relative to runtime-image/. */
export const IMAGE_ROOTS = ['Dockerfile', 'requirements.lock', 'supervisor/cellblock_supervisor']

/** Sorted paths, relative to runtime-image/, of the image's input files, without bytecode. */
export const listImageInputs = (folder: string): Promise<string[]> => listFiles(folder, IMAGE_ROOTS)

/** The image's tag, a hash of its inputs: the same on every machine. */
export async function imageTag(folder: string, variant: ImageVariant): Promise<string> {
  const hash = await contentHash(folder, await listImageInputs(folder))
  return `cellblock-sandbox:${hash.slice(0, 12)}${variant === 'plain' ? '' : `-${variant}`}`
}
