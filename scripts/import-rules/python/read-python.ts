import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const FILES = 'runtime-image/**/*.py'
const EXCLUDED = ['**/node_modules', '**/__pycache__']
/** What absolute imports start at, besides the importing file's own folder. */
const ROOT = 'runtime-image/supervisor'

/** Source text by path from the project's root. */
export type PythonFiles = ReadonlyMap<string, string>

export interface PythonImport {
  readonly from: string
  readonly to: string
}

export interface PythonFunction {
  readonly name: string
  /** With its signature, without decorators. */
  readonly lines: number
}

export async function readPython(root: string): Promise<PythonFiles> {
  const found: string[] = []
  for await (const file of glob(FILES, { cwd: root, exclude: EXCLUDED })) found.push(file)
  return new Map(await Promise.all(found.toSorted().map(async (file) => [file, await readFile(join(root, file), 'utf8')] as const)))
}

/** Keeps the lines, so that line counts stay; without texts of several lines and without comments. */
function codeOf(text: string): string {
  return text.replace(/("""|''')[\s\S]*?\1/g, (found) => `""${'\n'.repeat(found.split('\n').length - 1)}`).replace(/^[ \t]*#.*$/gm, '')
}

const moduleFile = (files: PythonFiles, path: string): string | null =>
  [`${path}.py`, `${path}/__init__.py`].find((file) => files.has(file)) ?? null

/** The folder or module that `from` starts at; several for an absolute import, which may also name a file beside this one. */
function basesOf(file: string, dots: string, module: string): string[] {
  const path = module.replaceAll('.', '/')
  if (dots === '') return [join(ROOT, path), join(dirname(file), path)]
  return [join(dirname(file), '../'.repeat(dots.length - 1), path)]
}

/** The project's files that a file imports: at its top, in functions, and for types. */
export function importsOf(files: PythonFiles, file: string): PythonImport[] {
  const code = codeOf(files.get(file) ?? '')
  const found = new Set<string>()
  for (const [, dots = '', module = '', list = ''] of code.matchAll(/^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)/gm))
    for (const name of list
      .replaceAll(/[()]|#.*/g, '')
      .split(',')
      .map((each) => each.trim().split(/\s/)[0] ?? ''))
      for (const base of basesOf(file, dots, module)) {
        const target = (name === '' ? null : moduleFile(files, join(base, name))) ?? moduleFile(files, base)
        if (target !== null) found.add(target)
      }
  for (const [, list = ''] of code.matchAll(/^[ \t]*import[ \t]+([\w., \t]+)/gm))
    for (const name of list.split(',').map((each) => each.trim().split(/\s/)[0] ?? ''))
      for (const base of basesOf(file, '', name)) {
        const target = moduleFile(files, base)
        if (target !== null) found.add(target)
      }
  found.delete(file)
  return [...found].map((to) => ({ from: file, to }))
}

const indentOf = (line: string): number => line.length - line.trimStart().length

/** A signature of several lines ends at the line with its colon. */
function bodyStart(lines: readonly string[], at: number): number {
  let open = 0
  for (let index = at; index < lines.length; index++) {
    const line = lines[index] ?? ''
    open += (line.match(/[([{]/g)?.length ?? 0) - (line.match(/[)\]}]/g)?.length ?? 0)
    if (open <= 0 && /:\s*(\.\.\.)?(\s*#.*)?$/.test(line)) return index + 1
  }
  return at + 1
}

/** Every function and method; one inside another one counts in both. */
export function functionsOf(text: string): PythonFunction[] {
  const lines = codeOf(text).split('\n')
  return lines.flatMap((line, at) => {
    const name = /^\s*(?:async )?def (\w+)/.exec(line)?.[1]
    if (name === undefined) return []
    let last = bodyStart(lines, at) - 1
    for (let index = last + 1; index < lines.length; index++) {
      const next = lines[index] ?? ''
      if (next.trim() === '') continue
      if (indentOf(next) <= indentOf(line)) break
      last = index
    }
    return [{ name, lines: last - at + 1 }]
  })
}
