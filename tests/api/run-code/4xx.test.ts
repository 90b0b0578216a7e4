import { afterAll, beforeAll, expect, it } from 'vitest'
import { LIMITS } from '../../../services/model/limits.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let path: string
beforeAll(async () => {
  api = await startApi()
  path = `/v1/containers/${(await api.openai().containers.create({ name: 'runs' })).id}/executions`
})
afterAll(() => api.stop())

const cell = { cell_type: 'code', metadata: {}, source: '1' }
const notebook = (change: object): object => ({ notebook: { nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [cell], ...change } })

const cases: readonly (readonly [what: string, body: unknown, status: number, code: string, param: string | null])[] = [
  ['neither code nor notebook', {}, 400, 'invalid_request', 'code'],
  ['both', { code: 'x', ...notebook({}) }, 400, 'invalid_request', 'code'],
  ['a timeout of -1', { code: 'x', timeout_seconds: -1 }, 400, 'invalid_request', 'timeout_seconds'],
  ['a timeout that is no number', { code: 'x', timeout_seconds: '5' }, 400, 'invalid_request', 'timeout_seconds'],
  ['half a second', { code: 'x', timeout_seconds: 0.5 }, 400, 'invalid_request', 'timeout_seconds'],
  ['code that is no string', { code: 7 }, 400, 'invalid_request', 'code'],
  ['code with half a surrogate pair', '{"code":"\\ud800"}', 400, 'invalid_request', 'code'],
  ['too much code', { code: 'x'.repeat(LIMITS.maxCodeBytes + 1) }, 413, 'request_too_large', 'code'],
  ['another on_error', { code: 'x', on_error: 'ignore' }, 400, 'invalid_request', 'on_error'],
  ['metadata that is no text', { code: 'x', metadata: { a: 1 } }, 400, 'invalid_request', 'metadata.a'],
  ['a language that the image lacks', { code: '1', language: 'javascript' }, 400, 'unsupported_value', 'language'],
  ['R in an image without it', { code: '1', language: 'r' }, 400, 'unsupported_value', 'language'],
  ['a list as body', [], 400, 'invalid_request', null],
  ['a notebook that is none', { notebook: { hello: 1 } }, 400, 'invalid_notebook', 'notebook.nbformat'],
  ['an old notebook', notebook({ nbformat: 3 }), 400, 'invalid_notebook', 'notebook.nbformat'],
  ['cells that are no list', notebook({ cells: {} }), 400, 'invalid_notebook', 'notebook.cells'],
  ['a cell that is no object', notebook({ cells: [1] }), 400, 'invalid_notebook', 'notebook.cells[0]'],
  [
    'an unknown cell type',
    notebook({ cells: [{ cell_type: 'heading', source: '' }] }),
    400,
    'invalid_notebook',
    'notebook.cells[0].cell_type',
  ],
  [
    'a source that is a number',
    notebook({ cells: [{ cell_type: 'code', source: 1 }] }),
    400,
    'invalid_notebook',
    'notebook.cells[0].source',
  ],
  ['a notebook without code', notebook({ cells: [{ cell_type: 'markdown', source: '' }] }), 400, 'invalid_notebook', 'notebook.cells'],
  [
    'too many cells',
    notebook({ cells: Array.from({ length: LIMITS.maxNotebookCells + 1 }, () => cell) }),
    400,
    'invalid_notebook',
    'notebook.cells',
  ],
  [
    'too much code in cells',
    notebook({ cells: [{ ...cell, source: 'x'.repeat(LIMITS.maxNotebookCodeBytes) }] }),
    413,
    'request_too_large',
    'notebook',
  ],
]
it.for(cases)('refuses %s', async ([, body, status, code, param]) => {
  const answer = await api.post(path, body)
  const { error, request_id: requestId } = (await answer.json()) as { error: Record<string, unknown>; request_id: string }
  expect({ status: answer.status, code: error['code'], param: error['param'] }).toEqual({ status, code, param })
  expect(error['message']).toMatch(/^[A-Z'].*\.$/s)
  expect(answer.headers.get('x-request-id')).toBe(requestId)
})

it.for(['wait=-1', 'wait=61', 'wait=NaN', 'wait=1&wait=2', 'wait=1e1', 'wait='])('refuses ?%s', async (query) => {
  const answer = await api.post(`${path}?${query}`, { code: 'x' })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request', param: 'wait' } })
})

it('returns 422 for an Idempotency-Key with another body', async () => {
  const headers = { 'idempotency-key': 'changed' }
  await api.post(`${path}?wait=0`, { code: 'a' }, { headers })
  const answer = await api.post(`${path}?wait=0`, { code: 'b' }, { headers })
  expect(answer.status).toBe(422)
  expect(await answer.json()).toMatchObject({ error: { code: 'idempotency_key_reused' } })
  expect(answer.headers.get('x-should-retry')).toBe('false')
})

it('returns 404 for a container of another tenant as for a missing one, and accepts nothing', async () => {
  const answers = await Promise.all([
    api.post(path, { code: 'x' }, { key: api.otherTenant }),
    api.post('/v1/containers/cntr_01kajv9h2s8p0ww3d4dq4cs1zt/executions', { code: 'x' }, { key: api.otherTenant }),
  ])
  expect(answers.map((answer) => answer.status)).toEqual([404, 404])
  const bodies = (await Promise.all(answers.map((answer) => answer.text()))).map((text) =>
    text.replaceAll(/cntr_\w+/g, 'ID').replaceAll(/req_\w+/g, 'REQ'),
  )
  expect(bodies[0]).toBe(bodies[1])
})

it('returns 429 when the queue of the container is full', async () => {
  const { id } = await api.openai().containers.create({ name: 'full' })
  for (let n = 0; n < LIMITS.maxQueuedPerContainer; n++)
    await api.table.containers.enqueue(api.owner.tenant, id, {
      executionId: `exec_${String(n).padStart(26, '0')}`,
      now: Date.now(),
      dueAt: Date.now() + 60_000,
    })
  const answer = await api.post(`/v1/containers/${id}/executions`, { code: 'x' })
  expect(answer.status).toBe(429)
  expect(answer.headers.get('x-should-retry')).toBe('true')
  expect(await answer.json()).toMatchObject({ error: { code: 'too_many_queued', type: 'rate_limit_error' } })
})
