import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { conceptsDiagram } from '../../../scripts/docs/concepts-diagram.ts'

test('docs/img/concepts.svg is what its script writes', () => {
  const stored = readFileSync(join(import.meta.dirname, '../../../docs/img/concepts.svg'), 'utf8')
  expect(stored, 'Run node scripts/docs/concepts-diagram.ts').toBe(conceptsDiagram())
})
