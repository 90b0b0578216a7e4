import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

export interface Import {
  /** Paths are from the project's root. */
  readonly from: string
  /** A file, or the name of a package or of a module of Node. */
  readonly to: string
  readonly isPackage: boolean
}

const FILES = '{services,infra,packages,scripts,tests,examples}/**/*.{ts,tsx,mjs}'
const EXCLUDED = ['**/node_modules', '**/dist']

/** The imports of one file: statements, exports of another file, `import()` in code and in types. */
export function importsOf(from: string, text: string): Import[] {
  const { program, errors } = parseSync(from, text)
  if (errors.length > 0) throw new Error(`${from} cannot be parsed: ${errors[0]?.message}`)
  const found: Import[] = []
  const add = (specifier: string | null | undefined): void => {
    if (specifier === null || specifier === undefined) return
    const isPackage = !specifier.startsWith('.')
    found.push({ from, to: isPackage ? specifier : join(from, '..', specifier), isPackage })
  }
  new Visitor({
    ImportDeclaration: ({ source }) => add(source.value),
    ExportNamedDeclaration: ({ source }) => add(source?.value),
    ExportAllDeclaration: ({ source }) => add(source.value),
    TSImportType: ({ source }) => add(source.value),
    ImportExpression({ source }) {
      if (source.type === 'Literal' && typeof source.value === 'string') add(source.value)
      if (source.type === 'TemplateLiteral' && source.expressions.length === 0) add(source.quasis[0]?.value.cooked)
    },
  }).visit(program)
  return found
}

/** The imports of every source file in `root`. */
export async function readImports(root: string): Promise<readonly Import[]> {
  const imports: Import[] = []
  for await (const file of glob(FILES, { cwd: root, exclude: EXCLUDED }))
    imports.push(...importsOf(file, await readFile(join(root, file), 'utf8')))
  return imports
}
