import { afterAll, beforeAll, expect, it } from 'vitest'
import { finishExecution, headOf } from '../../support/finish-execution.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let containerId: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'runs' })).id
})
afterAll(() => api.stop())

const run = async (body: unknown, result: Parameters<typeof finishExecution>[3] = {}): Promise<Response> => {
  const answer = api.post(`/v1/containers/${containerId}/executions`, body)
  await finishExecution(api, api.owner.tenant, await headOf(api, api.owner.tenant, containerId), result)
  return answer
}

it('returns the execution as soon as it has ended', async () => {
  const answer = await run(
    { code: 'print(1)', metadata: { step: 'one' } },
    {
      result: {
        stdout: '1\n',
        cells: [{ index: 0, status: 'ok', executionCount: 1, outputs: [{ output_type: 'stream', name: 'stdout', text: '1\n' }] }],
      },
    },
  )
  expect(answer.status).toBe(201)
  const body = (await answer.json()) as Record<string, unknown>
  expect(body).toMatchObject({
    object: 'execution',
    v: 1,
    container_id: containerId,
    status: 'succeeded',
    reason: null,
    stdout: '1\n',
    stderr: '',
    error: null,
    files: [],
    lost: [],
    metadata: { step: 'one' },
    outputs: [{ output_type: 'stream', name: 'stdout', text: '1\n' }],
    usage: { queue_ms: 1, start_ms: 2, run_ms: 3, cpu_ms: 4, peak_memory_bytes: 5, output_bytes: 6, sandbox_seconds: 0.5, cost_usd: 0 },
  })
  expect(body['created_at']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
  expect(body).not.toHaveProperty('queue_position')
  expect(body).not.toHaveProperty('cells')
})

it('returns failing code as a result, not as an error', async () => {
  const error = { name: 'ZeroDivisionError', value: 'division by zero', traceback: ['line'] }
  const answer = await run({ code: '1/0' }, { patch: { status: 'failed', reason: 'error' }, result: { error } })
  expect(answer.status).toBe(201)
  expect(await answer.json()).toMatchObject({ status: 'failed', reason: 'error', error })
})

it('runs the code cells of a notebook and returns its cells', async () => {
  const notebook = {
    nbformat: 4,
    nbformat_minor: 5,
    metadata: {},
    cells: [
      { cell_type: 'markdown', metadata: {}, source: '# Title' },
      { cell_type: 'code', metadata: {}, source: ['a = 1\n', 'a'], outputs: [], execution_count: null },
    ],
  }
  const answer = await run(
    { notebook, on_error: 'continue' },
    { result: { cells: [{ index: 1, status: 'ok', executionCount: 1, outputs: [] }] } },
  )
  expect(answer.status).toBe(201)
  const body = (await answer.json()) as { id: string; cells: unknown }
  expect(body.cells).toEqual([{ index: 1, execution_count: 1, status: 'ok', outputs: [] }])
  const row = await api.table.executions.get(api.owner.tenant, body.id)
  expect(row?.source).toMatchObject({ kind: 'notebook', cells: [{ index: 1, code: 'a = 1\na' }] })
  expect(row?.onError).toBe('continue')
})

it('stores long code in an object', async () => {
  const code = `x = "${'ä'.repeat(150_000)}"`
  const answer = await run({ code })
  const row = await api.table.executions.get(api.owner.tenant, ((await answer.json()) as { id: string }).id)
  if (row?.source.kind !== 'blob') throw new Error('not an object')
  const object = await api.objects.get(row.source.code.objectKey)
  const chunks: Uint8Array[] = []
  for await (const chunk of object?.body ?? []) chunks.push(chunk)
  expect(Buffer.concat(chunks).toString()).toBe(code)
})

it('links files and large outputs at read time', async () => {
  const { tenant } = api.owner
  const put = async (text: string): Promise<string> => {
    const key = `tenants/${tenant}/${containerId}/outputs/${crypto.randomUUID()}`
    await api.objects.put(key, Buffer.from(text), { contentType: 'text/plain' })
    return key
  }
  const [fileKey, outputKey] = await Promise.all([put('a,b\n'), put('<svg/>')])
  const file = { id: 'cfile_01kajv9h2s8p0ww3d4dq4cs1zt', path: 'out/a.csv', bytes: 4, sha256: 'ab', mime: 'text/csv' }
  await api.table.files.put({
    ...file,
    v: 1,
    tenant,
    containerId,
    source: 'assistant',
    createdAt: Date.now(),
    objectKey: fileKey,
    executionId: null,
    isCurrent: true,
    state: 'stored',
    sandboxGeneration: 1,
  })
  const ref = { objectKey: outputKey, bytes: 6, mime: 'image/svg+xml' }
  const answer = await run(
    { code: 'x' },
    {
      result: {
        files: [{ ...file, isNew: true, modifiedFrom: null }],
        cells: [
          {
            index: 0,
            status: 'ok',
            executionCount: 1,
            outputs: [{ output_type: 'display_data', data: { 'text/plain': 'x', 'cellblock/ref': ref }, metadata: {} }],
          },
        ],
      },
    },
  )
  const body = (await answer.json()) as {
    files: { path: string; url: string }[]
    outputs: { data: Record<string, { url: string; bytes: number; mime: string }> }[]
  }
  expect(body.files[0]?.path).toBe('/mnt/data/out/a.csv')
  expect(body.files[0]?.url.startsWith(`${api.url}/objects/`)).toBe(true)
  expect(await (await fetch(body.files[0]?.url ?? '')).text()).toBe('a,b\n')
  const shown = body.outputs[0]?.data['cellblock/ref']
  expect(shown).toMatchObject({ bytes: 6, mime: 'image/svg+xml' })
  expect(JSON.stringify(body)).not.toContain('objectKey')
  expect(await (await fetch(shown?.url ?? '')).text()).toBe('<svg/>')
})
