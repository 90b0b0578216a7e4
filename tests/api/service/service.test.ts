import { afterAll, beforeAll, expect, it } from 'vitest'
import { LIMITS } from '../../../services/model/limits.ts'
import { NUMERIC_LIMITS } from '../../../services/model/tenants/tenant-limits.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

it('passes the liveness probe without a key', async () => {
  const answer = await fetch(`${api.url}/healthz`)
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
  expect((await fetch(`${api.url}/healthz`, { method: 'HEAD' })).status).toBe(200)
})

it('is ready when every dependency is, and names the one that is not', async () => {
  expect((await fetch(`${api.url}/readyz`)).status).toBe(200)
  api.setReadiness({ ok: false, parts: { table: { ok: true }, driver: { ok: false, detail: 'No engine answers.' } } })
  const answer = await fetch(`${api.url}/readyz`)
  expect([answer.status, await answer.json()]).toEqual([
    503,
    { ok: false, parts: { table: { ok: true }, driver: { ok: false, detail: 'No engine answers.' } } },
  ])
})

it("lists the models with OpenAI's own client", async () => {
  const client = api.openai()
  expect((await client.models.list()).data).toEqual([
    { id: 'demo', object: 'model', created: 1_700_000_000, owned_by: 'cellblock', x_cellblock: { reads_images: false } },
  ])
  expect(await client.models.retrieve('demo')).toMatchObject({ id: 'demo' })
  await expect(client.models.retrieve('x')).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
})

it('returns every limit with its unit', async () => {
  const body = (await (await api.fetch('/v1/limits')).json()) as { limits: Record<string, unknown>; memory_limits: unknown[] }
  // A tenant's own limit replaces the general one of the same name.
  expect(Object.keys(body.limits)).toHaveLength(Object.keys({ ...LIMITS, ...NUMERIC_LIMITS }).length)
  expect(body.limits).toMatchObject({
    max_code_bytes: { value: LIMITS.maxCodeBytes, unit: 'bytes', used: null },
    max_timeout_seconds: { unit: 'seconds' },
    max_notebook_cells: { unit: 'count' },
  })
  expect(body.memory_limits[0]).toEqual({ memory_limit: '1g', memory_bytes: 1_073_741_824 })
})
