import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, it } from 'vitest'
import { isBounded } from '../../../services/model/bounded-schemas.ts'
import { ROUTES } from '../../../services/wires/routes.ts'
import { positionsOf, requestBodies } from '../../support/request-bodies.ts'

const ROOT = join(import.meta.dirname, '../../..')

it('every list and every open object of a body or a query has a bound and ends at its first invalid entry', () => {
  const queries = ROUTES.flatMap(({ operationId, query }) =>
    query === undefined ? [] : [{ name: `query of ${operationId}`, schema: query() }],
  )
  const unbounded = [...requestBodies(), ...queries].flatMap(({ name, schema }) =>
    [...positionsOf(schema)].filter((position) => !isBounded(position.schema)).map(({ path }) => `${name}${path}`),
  )
  expect(unbounded).toEqual([])
})

/** Unbounded schemas; `z.array(x)` as well as `x.array()`. */
const UNBOUNDED = /^(array|record|looseObject|looseRecord|partialRecord|map|set|catchall|loose|passthrough|rest)$/
/** Where answers are described: the service itself makes their values. */
const ANSWERS = /^(answers|answerSchema|outputSchema|schema|events)$/

interface Use {
  readonly line: number
  readonly name: string
}

/** Calls that make an unbounded schema outside the description of an answer. */
function unboundedUses(file: string, text: string): readonly Use[] {
  const { program, errors } = parseSync(file, text)
  expect(errors, file).toEqual([])
  const uses: (Use & { readonly start: number })[] = []
  const answers: { readonly start: number; readonly end: number }[] = []
  new Visitor({
    CallExpression({ start, end, callee }) {
      if (callee.type === 'Identifier' && ANSWERS.test(callee.name)) answers.push({ start, end })
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
      const { name } = callee.property
      const isOfZod = callee.object.type === 'Identifier' && callee.object.name === 'z'
      const isMethod = /^(array|catchall|loose|passthrough|rest)$/.test(name)
      if (UNBOUNDED.test(name) && (isOfZod || isMethod)) uses.push({ start, line: text.slice(0, start).split('\n').length, name })
    },
    Property({ start, end, key }) {
      if (key.type === 'Identifier' && ANSWERS.test(key.name)) answers.push({ start, end })
    },
    VariableDeclarator({ start, end, id }) {
      if (id.type === 'Identifier' && ANSWERS.test(id.name)) answers.push({ start, end })
    },
  }).visit(program)
  return uses.filter(({ start }) => !answers.some((answer) => answer.start <= start && start < answer.end))
}

it('no file of the API makes an unbounded schema for anything but an answer', async () => {
  const found: string[] = []
  let files = 0
  for await (const file of glob('services/{http,operations,wires}/**/*.ts', { cwd: ROOT })) {
    files += 1
    // The configuration of the process is not a request.
    if (file === 'services/http/config.ts') continue
    for (const { line, name } of unboundedUses(file, await readFile(join(ROOT, file), 'utf8'))) found.push(`${file}:${line} ${name}`)
  }
  expect(files).toBeGreaterThan(150)
  expect(found).toEqual([])
})

it.each([
  'z.array(z.string())',
  'z.object({ a: z.record(z.string(), z.string()) })',
  'z.string().array()',
  'z.object({}).loose()',
  'z.looseObject({})',
])('finds %s', (schema) => {
  expect(unboundedUses('a.ts', `const Body = lazySchema(() => ${schema})`)).toHaveLength(1)
  expect(unboundedUses('a.ts', `const Answer = answerSchema(() => ${schema})`)).toEqual([])
})
