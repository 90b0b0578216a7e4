import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

/** No worker runs here, so no sandbox starts. */
let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

it('replies in time without a free sandbox: the code never runs, and its container is deleted', async () => {
  const asked = api.post('/execute', { code: 'print(1)' })
  await expect.poll(async () => (await api.openai().containers.list()).data.length).toBe(1)
  const [container] = (await api.openai().containers.list()).data
  api.skew = 40_000
  const answer = await asked
  expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: 'sandbox_unavailable' } }])
  const { tenant } = api.owner
  const row = await api.table.containers.get(tenant, container?.id ?? '')
  expect(row?.deletedAt).not.toBeNull()
  const { rows } = await api.table.executions.listByContainer(tenant, container?.id ?? '', { after: null, limit: 10, order: 'asc' })
  expect(rows).toMatchObject([{ status: 'cancelled', reason: 'caller' }])
  api.skew = 0
})

it.for([
  [{}, 400, 'invalid_request'],
  [{ code: 1 }, 400, 'invalid_request'],
  [{ code: 'x'.repeat(1024 * 1024 + 1) }, 413, 'request_too_large'],
] as const)('refuses an invalid program', async ([body, status, code]) => {
  const answer = await api.post('/execute', body)
  expect([answer.status, await answer.json()]).toMatchObject([status, { error: { code } }])
  expect((await api.openai().containers.list()).data).toEqual([])
})
