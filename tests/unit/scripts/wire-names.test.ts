import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { AMBIGUOUS_NAMES, EXCEPTIONS, findNamedWires, namedWires, WIRE_NAMES } from '../../../scripts/import-rules/wire-names.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

it('searches for the folders of wires, except those whose names have another meaning', async () => {
  const entries = await readdir(join(ROOT, 'services/wires'), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  expect(WIRE_NAMES).toEqual(expect.arrayContaining(['e2b', 'librechat', 'mcp', 'plugin']))
  expect(WIRE_NAMES).not.toContain('native')
  expect([...WIRE_NAMES, ...AMBIGUOUS_NAMES].toSorted()).toEqual(folders.toSorted())
})

it('finds no wire that another layer of the services names', async () => {
  expect(await findNamedWires(ROOT)).toEqual([])
})

it.each([
  ['a path', "app.get('/e2b/files', read)", 'e2b'],
  ['an identifier', 'const session: E2bSession = row', 'e2b'],
  ['a variable of the environment', "env['CELLBLOCK_E2B_DOMAIN']", 'e2b'],
  ['a condition on a path', "route.path.startsWith('/librechat/')", 'librechat'],
  ['an operation', "route.operationId === 'mcp'", 'mcp'],
  ['a comment', '/** For the Plugin. */', 'plugin'],
])('finds %s', (_case, line, wire) => {
  expect(namedWires('services/http/a.ts', `one\n${line}`)).toEqual([
    `services/http/a.ts:2 names the wire ${wire}: only its own folder and services/wires/*.ts may`,
  ])
})

it.each(EXCEPTIONS.map((exception) => [exception.file, exception] as const))(
  'needs the exception for %s',
  async (file, { line, reason }) => {
    const text = await readFile(join(ROOT, file), 'utf8')
    expect(text.split('\n').map((one) => one.trim())).toContain(line)
    expect(namedWires('services/http/a.ts', line)).toHaveLength(1)
    expect(reason.length).toBeGreaterThan(20)
  },
)
