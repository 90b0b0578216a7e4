import { cp, mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PAGE_PREFIX } from '../../services/http/origin/config.ts'
import { ensurePlayground } from './ensure-playground.ts'

/** The page's first file. */
const ENTRY = 'index.html'

export interface SiteFile {
  /** In the site bucket. */
  readonly key: string
  readonly path: string
}

/** Files of the site bucket: the script of the API reference, which is too large for a function bundle, and the page. The page's entry is the last. */
export async function siteFiles(progress: (line: string) => void): Promise<readonly SiteFile[]> {
  const page = await ensurePlayground(progress)
  const entries = await readdir(page, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => relative(page, join(entry.parentPath, entry.name)))
  return [
    { key: 'docs/reference.js', path: fileURLToPath(new URL('./browser/standalone.js', import.meta.resolve('@scalar/api-reference'))) },
    // It names the other files.
    ...paths
      .toSorted((one, other) => Number(one === ENTRY) - Number(other === ENTRY))
      .map((path) => ({ key: `${PAGE_PREFIX}${path}`, path: join(page, path) })),
  ]
}

/** Writes them into `folder`, under their keys. Returns `folder`. */
export async function prepareSite(folder: string, progress: (line: string) => void): Promise<string> {
  const files = await siteFiles(progress)
  await rm(folder, { recursive: true, force: true })
  for (const { key, path } of files) {
    await mkdir(dirname(join(folder, key)), { recursive: true })
    await cp(path, join(folder, key))
  }
  return folder
}
