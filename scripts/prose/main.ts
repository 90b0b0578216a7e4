// Checks spelling (cspell) and forbidden terms in documentation, comments, messages, names and test titles.
// `npm run lint:prose -- PATH…` checks the given files and folders; without a path it checks the whole project.
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { lint } from 'cspell'
import { findForbidden } from './find-forbidden.ts'
import { listFiles } from './list-files.ts'

const ROOT = join(import.meta.dirname, '..', '..')

const asked = process.argv.slice(2).map((path) => relative(ROOT, join(ROOT, path)) || '.')
const files = (await Promise.all((asked.length > 0 ? asked : ['.']).map((path) => listFiles(ROOT, path)))).flat().toSorted()

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
