import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The variants of the sandbox image: `xvfb` adds a virtual display. */
export type ImageVariant = 'plain' | 'xvfb'

const ROOTS = ['Dockerfile', 'requirements.lock', 'supervisor/cellblock_supervisor']

/** Paths relative to runtime-image/ of every file that the image is made from, sorted; bytecode is left out. */
export async function listImageInputs(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const root of ROOTS) {
    if (root.includes('/')) {
      const entries = await readdir(join(folder, root), { recursive: true, withFileTypes: true })
      for (const entry of entries)
        if (entry.isFile() && !entry.name.endsWith('.pyc')) found.push(join(entry.parentPath, entry.name).slice(folder.length + 1))
    } else found.push(root)
  }
  return found.toSorted()
}

/** The image's tag: the same inputs give the same tag on every machine. */
export async function imageTag(folder: string, variant: ImageVariant): Promise<string> {
  const hash = createHash('sha256')
  for (const path of await listImageInputs(folder)) {
    const content = await readFile(join(folder, path))
    hash.update(`${path}\0${content.byteLength}\0`).update(content)
  }
  return `cellblock-sandbox:${hash.digest('hex').slice(0, 12)}${variant === 'plain' ? '' : `-${variant}`}`
}
