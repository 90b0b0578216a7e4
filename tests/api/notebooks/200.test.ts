import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CellResult } from '../../../services/model/executions/outputs.ts'
import { emptyResult, finishExecution } from '../../support/finish-execution.ts'
import { executionRow, T0 } from '../../support/rows.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

interface Notebook {
  readonly nbformat: number
  readonly nbformat_minor: number
  readonly metadata: Record<string, unknown>
  readonly cells: readonly {
    readonly id: string
    readonly cell_type: string
    readonly source: string
    readonly execution_count?: number | null
    readonly outputs?: readonly unknown[]
  }[]
}

let api: TestApi
let containerId: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'notebooks' })).id
})
afterAll(() => api.stop())

const run = async (body: object, cells: readonly CellResult[]): Promise<string> => {
  const { id } = (await (await api.post(`/v1/containers/${containerId}/executions?wait=0`, body)).json()) as { id: string }
  await finishExecution(api, api.owner.tenant, id, { result: { cells } })
  return id
}
const notebookOf = async (path: string): Promise<Notebook> => {
  const answer = await api.fetch(`${path}/notebook.ipynb`)
  expect(answer.headers.get('content-type')).toBe('application/x-ipynb+json')
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename=".+\.ipynb"$/)
  return (await answer.json()) as Notebook
}

const sent = {
  nbformat: 4,
  nbformat_minor: 2,
  metadata: { title: 'kept', kernelspec: { name: 'r' } },
  cells: [
    { cell_type: 'markdown', metadata: {}, source: ['# Hello\n', 'world'] },
    {
      cell_type: 'code',
      id: 'mine',
      metadata: { tags: ['a'] },
      source: 'x = 1',
      outputs: [{ output_type: 'stream', name: 'stdout', text: 'stale' }],
      execution_count: 9,
    },
    { cell_type: 'code', id: 'mine', metadata: {}, source: 'never ran', outputs: [], execution_count: null },
  ],
}

it('returns the executed notebook with its Markdown cells unchanged', async () => {
  const png = Buffer.from([137, 80, 78, 71])
  const objectKey = `tenants/${api.owner.tenant}/${containerId}/outputs/plot`
  await api.objects.put(objectKey, png, { contentType: 'image/png' })
  const outputs = [
    {
      output_type: 'display_data' as const,
      data: { 'text/plain': '<Figure>', 'cellblock/ref': { objectKey, bytes: 4, mime: 'image/png' } },
      metadata: {},
    },
  ]
  const id = await run({ notebook: sent }, [{ index: 1, status: 'ok', executionCount: 4, outputs }])
  const notebook = await notebookOf(`/v1/executions/${id}`)
  expect(notebook).toMatchObject({ nbformat: 4, nbformat_minor: 5, metadata: { title: 'kept', kernelspec: { name: 'python3' } } })
  expect(notebook.cells).toMatchObject([
    { cell_type: 'markdown', source: '# Hello\nworld' },
    {
      cell_type: 'code',
      id: 'mine',
      source: 'x = 1',
      execution_count: 4,
      outputs: [{ output_type: 'display_data', data: { 'text/plain': '<Figure>', 'image/png': png.toString('base64') } }],
    },
    { cell_type: 'code', id: 'mine-2', source: 'never ran', execution_count: null, outputs: [] },
  ])
  expect(JSON.stringify(notebook)).not.toContain('cellblock/ref')
})

it('exports all executions of a container as one notebook, oldest first, with unique ids', async () => {
  containerId = (await api.openai().containers.create({ name: 'all' })).id
  const long = `text = "${'z'.repeat(250_000)}"`
  await run({ code: 'a = 1' }, [{ index: 0, status: 'ok', executionCount: 1, outputs: [] }])
  await run({ notebook: sent }, [])
  await run({ notebook: sent }, [])
  await run({ code: long }, [])
  const notebook = await notebookOf(`/v1/containers/${containerId}`)
  expect(notebook.cells.map((cell) => cell.source)).toEqual([
    'a = 1',
    ...Array.from({ length: 2 }, () => ['# Hello\nworld', 'x = 1', 'never ran']).flat(),
    long,
  ])
  const ids = notebook.cells.map((cell) => cell.id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[\w-]{1,64}$/)
})

describe('executions with large results', () => {
  const MiB = 1024 * 1024
  const printed = (list: { readonly data: readonly { readonly stdout: string }[] }) => list.data.map(({ stdout }) => stdout)
  let path: string
  beforeAll(async () => {
    const { id } = await api.openai().containers.create({ name: 'big' })
    path = `/v1/containers/${id}`
    const tenant = api.owner.tenant
    for (let index = 0; index < 5; index++) {
      const objectKey = `tenants/${tenant}/${id}/results/${index}`
      const result = { ...emptyResult, stdout: `result ${index}` }
      await api.objects.put(objectKey, Buffer.from(JSON.stringify(result)), { contentType: 'application/json' })
      const source = { kind: 'code', code: `print(${index})` } as const
      // The size is in the row, so the object is not loaded to find it.
      const resultRef = { objectKey, bytes: 20 * MiB }
      await api.table.executions.create(
        executionRow({ tenant, containerId: id, status: 'succeeded', source, resultRef, createdAt: T0 + index, dueAt: null }),
      )
    }
  })

  it('shorten a notebook, which reports it', async () => {
    const { cells } = await notebookOf(path)
    expect(cells.map((cell) => cell.source)).toEqual([expect.stringContaining('left out'), 'print(2)', 'print(3)', 'print(4)'])
  })

  it('shorten a page of the list without omissions', async () => {
    const pages: string[][] = []
    for (let after = ''; ;) {
      const answer = await api.fetch(`${path}/executions?limit=100${after}`)
      const list = (await answer.json()) as { data: { stdout: string }[]; has_more: boolean; last_id: string }
      pages.push(printed(list))
      if (!list.has_more) break
      after = `&after=${list.last_id}`
    }
    expect(pages).toEqual([['result 4'], ['result 3'], ['result 2'], ['result 1'], ['result 0']])
  })
})
