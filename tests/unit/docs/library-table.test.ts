import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { libraryTable, tableIn } from '../../../scripts/library-table.ts'

it('lists in docs/images.md what the images lock; node scripts/library-table.ts writes it', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/images.md'), 'utf8')
  expect(tableIn(page)).toBe(await libraryTable())
})
