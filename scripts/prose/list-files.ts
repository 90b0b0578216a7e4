import { glob, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Everything that a person writes as text or code; styles and data have no sentences. */
const TEXT_FILES = '**/{*.{md,ts,tsx,mts,mjs,cjs,py,R,sh,html},Dockerfile}'
/** The list of forbidden terms contains them all; folders of tools and of downloads are not ours. */
const EXCLUDED = [
  'node_modules',
  '.tools',
  '.cellblock',
  'cdk.out',
  'dist',
  // Programs as models write them, and their libraries' names.
  'sample-programs',
  'plotly',
  'font-aliases.json',
  'scripts/prose/forbidden-terms.ts',
  'tests/unit/scripts/find-forbidden.test.ts',
]

const isExcluded = (path: string): boolean => EXCLUDED.some((excluded) => path === excluded || path.split('/').includes(excluded))

/** Text files of a file or folder, relative to the root. Throws an Error for a path that does not exist. */
export async function listFiles(root: string, path: string): Promise<string[]> {
  const found = await stat(join(root, path)).catch(() => undefined)
  if (found === undefined) throw new Error(`${path} does not exist. Name a file or a folder relative to the repository's root.`)
  if (found.isFile()) return isExcluded(path) ? [] : [path]
  const files: string[] = []
  for await (const file of glob(TEXT_FILES, { cwd: join(root, path), exclude: isExcluded })) {
    const fromRoot = join(path, file)
    if (!isExcluded(fromRoot)) files.push(fromRoot)
  }
  return files
}
