import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { IMAGE_VARIANTS, listImageInputs } from './image-inputs.ts'

/** Writes the inputs of all image variants into `target`, a complete build context for Docker. Returns `target`. */
export async function prepareImageContext(source: string, target: string): Promise<string> {
  await rm(target, { recursive: true, force: true })
  const inputs = await Promise.all(IMAGE_VARIANTS.map((variant) => listImageInputs(source, variant)))
  for (const path of new Set(inputs.flat())) {
    await mkdir(dirname(join(target, path)), { recursive: true })
    await cp(join(source, path), join(target, path))
  }
  // Certificate authorities of a corporate proxy may be added here.
  await mkdir(join(target, 'ca'), { recursive: true })
  await writeFile(join(target, 'ca', '.keep'), '')
  return target
}
