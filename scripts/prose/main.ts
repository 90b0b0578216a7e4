// Checks spelling (cspell) and forbidden terms in documentation, comments, messages, names and test titles.
// `npm run lint:prose -- PATH…` checks the given files and folders; without a path it checks the whole project.
import { glob, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { lint } from 'cspell'
import { findForbidden } from './find-forbidden.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const TEXT_FILES = '**/*.{md,ts,mjs,py}'
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

async function listFiles(path: string): Promise<string[]> {
  const found = await stat(join(ROOT, path)).catch(() => undefined)
  if (found === undefined) throw new Error(`${path} does not exist. Name a file or a folder relative to the repository's root.`)
  if (found.isFile()) return isExcluded(path) ? [] : [path]
  const files: string[] = []
  for await (const file of glob(TEXT_FILES, { cwd: join(ROOT, path), exclude: isExcluded })) {
    const fromRoot = join(path, file)
    if (!isExcluded(fromRoot)) files.push(fromRoot)
  }
  return files
}

const asked = process.argv.slice(2).map((path) => relative(ROOT, join(ROOT, path)) || '.')
const files = (await Promise.all((asked.length > 0 ? asked : ['.']).map(listFiles))).flat().toSorted()

let count = 0
for (const file of files)
  for (const { line, text, instead } of findForbidden(await readFile(join(ROOT, file), 'utf8'))) {
    count++
    console.log(`${file}:${line} – forbidden "${text}" – use: ${instead}`)
  }

const { issues, errors } = await lint(files, {
  root: ROOT,
  config: join(ROOT, 'cspell.json'),
  cache: true,
  cacheStrategy: 'content',
  cacheLocation: join(ROOT, '.cellblock', 'cspell-cache'),
  issues: true,
  progress: false,
  summary: false,
  relative: true,
  mustFindFiles: false,
  showSuggestions: asked.length > 0,
})
console.log(`Prose: ${files.length} files, ${count} forbidden terms, ${issues} unknown words`)
if (count > 0 || issues > 0 || errors > 0) {
  console.log('Replace forbidden terms. Fix misspelled words, or add a correct technical term to scripts/prose/words.txt.')
  process.exitCode = 1
}
