import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { errorPage } from '../../../scripts/error-table.ts'

it('describes in docs/errors.md every error of the API; node scripts/error-table.ts writes it', async () => {
  expect(await readFile(join(import.meta.dirname, '../../../docs/errors.md'), 'utf8')).toBe(errorPage())
})
