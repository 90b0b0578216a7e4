import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildNotebook } from '../../../services/model/executions/notebook.ts'
import { parseNotebook } from '../../../services/operations/executions/source.ts'

interface Built {
  readonly cells: readonly {
    readonly id: string
    readonly source: string
    readonly outputs?: readonly { readonly data?: Record<string, unknown> }[]
  }[]
}

const cells = fc.array(
  fc.record({
    cell_type: fc.constantFrom('code', 'markdown', 'raw'),
    id: fc.oneof(fc.constantFrom('a', 'b', 'bad id'), fc.string()),
    metadata: fc.constant({}),
    source: fc.oneof(fc.string(), fc.array(fc.string())),
  }),
  { minLength: 1, maxLength: 12 },
)

it('contains every cell of every part with a unique id that nbformat allows', () => {
  fc.assert(
    fc.property(fc.array(cells, { minLength: 1, maxLength: 3 }), (documents) => {
      const built = buildNotebook(
        documents.map((list, n) => ({ executionId: `exec_${n}`, cells: [], results: [], document: { nbformat: 4, cells: list } })),
      ) as unknown as Built
      expect(built.cells).toHaveLength(documents.flat().length)
      const ids = built.cells.map((cell) => cell.id)
      expect(new Set(ids).size).toBe(ids.length)
      for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9-_]{1,64}$/)
    }),
  )
})

it('parses the same code that it exports', () => {
  fc.assert(
    fc.property(cells, (list) => {
      fc.pre(list.some((cell) => cell.cell_type === 'code') && list.every((cell) => [cell.source].flat().join('').isWellFormed()))
      const document = { nbformat: 4, cells: list }
      const built = buildNotebook([{ executionId: 'exec_1', cells: [], results: [], document }]) as unknown as Built
      for (const { index, code } of parseNotebook(document)) expect(built.cells[index]?.source).toBe(code)
    }),
  )
})

it('converts every bundle to one that nbformat accepts', () => {
  const data = {
    'text/plain': ['a', 'b'],
    'text/html': { not: 'text' },
    'application/json': { a: 1 },
    'text/json': { a: 1 },
    'application/vnd.plotly.v1+json': [1],
    'cellblock/ref': { objectKey: 'k', bytes: 1, mime: 'image/png' },
  }
  const results = [
    {
      index: 0,
      status: 'ok' as const,
      executionCount: 1,
      outputs: [
        { output_type: 'display_data' as const, data, metadata: {} },
        { output_type: 'display_data' as const, data: { 'cellblock/ref': 1 }, metadata: {} },
      ],
    },
  ]
  const built = buildNotebook([{ executionId: 'exec_1', cells: [{ index: 0, code: 'x' }], results, document: null }]) as unknown as Built
  expect(built.cells[0]?.outputs?.map((output) => output.data)).toEqual([
    {
      'text/plain': ['a', 'b'],
      'text/html': '{"not":"text"}',
      'application/json': { a: 1 },
      'text/json': '{"a":1}',
      'application/vnd.plotly.v1+json': [1],
    },
    { 'text/plain': expect.stringContaining('too large') },
  ])
})

it('omits metadata and attachments that nbformat forbids and keeps unknown fields', () => {
  const wrong = { name: '', tags: ['a', 'a'], collapsed: 1, scrolled: 'x', format: 3, jupyter: 5, execution: { at: 1 } }
  const right = {
    name: 'n',
    tags: ['a'],
    collapsed: true,
    scrolled: 'auto',
    format: 'x',
    jupyter: {},
    execution: { at: 's' },
    constructor: 5,
  }
  const cell = (metadata: unknown, attachments: unknown) => ({ cell_type: 'markdown', source: '', metadata, attachments })
  const attachments = { 'a.png': { 'image/png': 'AA==' } }
  const document = {
    metadata: { title: 5, authors: 'me', orig_nbformat: 'x', mine: { a: 1 } },
    cells: [cell(wrong, { ...attachments, 'b.png': { 'image/png': 5 }, 'c.png': 5 }), cell(right, attachments), cell(null, null)],
  }
  expect(buildNotebook([{ executionId: '1', cells: [], results: [], document }])).toEqual({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { mine: { a: 1 }, kernelspec: expect.anything(), language_info: expect.anything() },
    cells: [
      { cell_type: 'markdown', id: '1-0', source: '', metadata: {}, attachments },
      { cell_type: 'markdown', id: '1-1', source: '', metadata: right, attachments },
      { cell_type: 'markdown', id: '1-2', source: '', metadata: {} },
    ],
  })
})
