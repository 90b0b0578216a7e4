import { expect, it } from 'vitest'
import { csvShape, csvTable, resourceTable } from '../../../packages/playground/render/table-data.ts'

it('reads quoted cells, separators and line breaks in CSV, and numbers as numbers', () => {
  expect(csvTable('a,b\r\n1,"x, ""y""\nz"\n-2.5,\n', ',')).toEqual({
    columns: ['a', 'b'],
    rows: [
      [1, 'x, "y"\nz'],
      [-2.5, ''],
    ],
    total: 2,
  })
  expect(csvTable('', ',')).toEqual({ columns: [], rows: [], total: 0 })
})

it.each([
  ['a,b\n1,2\n3,4\n', { rows: 2, columns: 2 }],
  ['a;b,c\r\n"x\ny",2\r\n\r\n3,4', { rows: 2, columns: 2 }],
  ['only,a,header', { rows: 0, columns: 3 }],
  ['', { rows: 0, columns: 0 }],
  [`n\n${'1\n'.repeat(2_500)}`, { rows: 2_500, columns: 1 }],
])('counts the rows and columns of %j', (text, shape) => {
  expect(csvShape(text, ',')).toEqual(shape)
})

it('takes a tabular resource of any shape without trusting it', () => {
  const resource = {
    schema: { fields: [{ name: 'n' }, {}] },
    data: [{ n: 1, __proto__: { constructor: 2 } }, null, 3],
    cellblock: { rows: 99 },
  }
  expect(resourceTable(resource)).toEqual({
    columns: ['n', ''],
    rows: [
      [1, null],
      [null, null],
      [null, null],
    ],
    total: 99,
  })
  for (const value of [null, 1, 'x', [], {}, { schema: null, data: [] }, { schema: { fields: {} }, data: [] }])
    expect(resourceTable(value)).toBeNull()
})
