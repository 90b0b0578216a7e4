import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeSales } from '../../../examples/quickstart/make-data.ts'

const FOLDER = join(import.meta.dirname, '../../../examples/quickstart')

test('the data set in the repository is what its script writes', async () => {
  expect(makeSales()).toBe(await readFile(join(FOLDER, 'sales.csv'), 'utf8'))
})

test('the data dictionary names every column', async () => {
  const dictionary = await readFile(join(FOLDER, 'DATA.md'), 'utf8')
  const [header = ''] = makeSales().split('\n')
  expect(header.split(',').filter((column) => !dictionary.includes(`| \`${column}\` |`))).toEqual([])
})
