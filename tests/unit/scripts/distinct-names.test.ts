import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync, Visitor, type Function, type ArrowFunctionExpression } from 'oxc-parser'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** The names of exported functions that perform I/O: those that answer with a promise or an asynchronous sequence. */
function asynchronousExports(file: string, text: string): string[] {
  const names: string[] = []
  const isAsynchronous = ({ async, returnType }: Function | ArrowFunctionExpression): boolean =>
    async ||
    /^: (?:Promise|Async\w+)</.test(returnType === null || returnType === undefined ? '' : text.slice(returnType.start, returnType.end))
  new Visitor({
    ExportNamedDeclaration({ declaration }) {
      if (declaration?.type === 'FunctionDeclaration' && declaration.id !== null && isAsynchronous(declaration))
        names.push(declaration.id.name)
      if (declaration?.type !== 'VariableDeclaration') return
      for (const { id, init } of declaration.declarations)
        if (id.type === 'Identifier' && init?.type === 'ArrowFunctionExpression' && isAsynchronous(init)) names.push(id.name)
    },
  }).visit(parseSync(file, text).program)
  return names
}

it('gives exported functions that do I/O distinct names over all services', () => {
  const files = new Map<string, string[]>()
  for (const file of globSync('services/**/*.ts', { cwd: ROOT }))
    for (const name of asynchronousExports(file, readFileSync(join(ROOT, file), 'utf8')))
      files.set(name, [...(files.get(name) ?? []), file])
  expect(files.size).toBeGreaterThan(300)
  expect([...files].filter(([, places]) => places.length > 1)).toEqual([])
})

it('finds asynchronous functions in each form', () => {
  const text =
    'export async function a() {}\nexport function b(): Promise<void> { return a() }\nexport const c = async () => 1\nexport const d = (): number => 1'
  expect(asynchronousExports('a.ts', text)).toEqual(['a', 'b', 'c'])
})
