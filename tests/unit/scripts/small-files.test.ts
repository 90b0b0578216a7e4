import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findSmallFiles, TABLES } from '../../../scripts/import-rules/small-files.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const SMALL = 'services/model/small.ts'

function findings(importers: readonly string[], { file = SMALL, lines = 39 } = {}): string[] {
  const imports = importers.map((from) => ({ from, to: file, isPackage: false }))
  return findSmallFiles(imports, new Map([[file, lines]]))
}

it('refuses a small file with one importer, however often that imports it', () => {
  const refused = [`${SMALL} has 39 lines and one importer: move it into services/model/user.ts, or give it its own test`]
  expect(findings(['services/model/user.ts'])).toEqual(refused)
  expect(findings(['services/model/user.ts', 'services/model/user.ts'])).toEqual(refused)
})

it('refuses a small file that no file imports, unless AWS starts it', () => {
  expect(findings([])).toEqual([`${SMALL} has no importer: remove it`])
  expect(findings([], { file: 'services/entries/aws/run/lambda.ts' })).toEqual([])
})

it.each([
  ['of 40 lines', findings(['services/model/user.ts'], { lines: 40 })],
  ['with two importers', findings(['services/model/user.ts', 'services/http/user.ts'])],
  ['with its own test', findings(['tests/unit/core/small.test.ts'])],
  ['that a table lists', findings(['services/wires/routes.ts'])],
  ['that is a table', findings(['services/entries/local/config.ts'], { file: 'services/wires/settings.ts' })],
])('permits a file %s', (_case, found) => {
  expect(found).toEqual([])
})

it('names only tables that exist', () => {
  expect(TABLES.filter((table) => !existsSync(join(ROOT, table)))).toEqual([])
})
