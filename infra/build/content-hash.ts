import { createHash } from 'node:crypto'
import { access, readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** Sorted paths, relative to `folder`, of all files in `roots` (files or folders), without Python bytecode. */
export async function listFiles(folder: string, roots: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const root of roots) {
    const path = join(folder, root)
    if (!(await stat(path)).isDirectory()) {
      found.push(root)
      continue
    }
    for (const entry of await readdir(path, { recursive: true, withFileTypes: true }))
      if (entry.isFile() && !entry.name.endsWith('.pyc')) found.push(relative(folder, join(entry.parentPath, entry.name)))
  }
  return found.toSorted()
}

/** SHA-256, hex, over names and content; the same on every machine. */
export async function contentHash(folder: string, paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const path of paths) {
    const content = await readFile(join(folder, path))
    hash.update(`${path}\0${content.byteLength}\0`).update(content)
  }
  return hash.digest('hex')
}

/** Whether a file or folder is there, for results whose folder is named after the hash of their inputs. */
export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
