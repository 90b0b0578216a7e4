import { afterAll, beforeAll, expect, it } from 'vitest'
import { finishExecution } from '../../support/finish-execution.ts'
import { newId } from '../../../services/model/ids.ts'
import type { TenantLimits } from '../../../services/model/tenants/tenant-limits.ts'
import { dayOf, type UsageRecord } from '../../../services/model/usage/usage.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
let admin: TestKey
beforeAll(async () => {
  api = await startApi()
  admin = await api.newKey({ scopes: ['admin'] })
})
afterAll(() => api.stop())

async function tenantWith(limits: Partial<TenantLimits>, plan?: string): Promise<TestKey> {
  const key = await api.newKey()
  const policy = { limits, ...(plan !== undefined && { plan }) }
  await api.table.tenants.create({ v: 1, id: key.tenant, name: 'limited', createdAt: Date.now(), policy })
  return key
}
const use = (key: TestKey, change: Partial<UsageRecord>) =>
  api.table.usage.put({
    v: 1,
    tenant: key.tenant,
    subject: null,
    executionId: newId('execution'),
    day: dayOf(api.now()),
    sandboxSeconds: 0,
    cpuMs: 0,
    peakMemoryBytes: 0,
    outputBytes: 0,
    costUsd: 0,
    ...change,
  })
const run = async (key: TestKey) => {
  const container = await api.openai(key).containers.create({ name: 'c' })
  return api.post(`/v1/containers/${container.id}/executions?wait=0`, { code: 'x' }, { key })
}
const turn = (key: TestKey) => api.post('/v1/responses', { model: 'demo', input: 'x', background: true }, { key })

it('applies the limits of a plan, then those of the tenant', async () => {
  const put = (limits: unknown) =>
    api.fetch('/v1/admin/plans/team', {
      method: 'PUT',
      key: admin,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ limits }),
    })
  expect((await put({ timeout_seconds: 90, displays: 7 })).status).toBe(200)
  expect((await put({ timeout_seconds: 0 })).status).toBe(400)
  const key = await tenantWith({ displays: 5 }, 'team')
  const read = async () => ((await (await api.fetch('/v1/limits', { key })).json()) as { limits: Record<string, { value: number }> }).limits
  expect(await read()).toMatchObject({ timeout_seconds: { value: 90 }, displays: { value: 5 } })
  await put({ timeout_seconds: 30 })
  api.skew += 10_000
  expect((await read())['timeout_seconds']?.value).toBe(30)
  expect((await api.post('/v1/admin/tenants', { name: 'x', plan: 'none' }, { key: admin })).status).toBe(404)
})

it('limits the requests per second of a tenant, whichever key it uses', async () => {
  const key = await tenantWith({ requestsPerSecond: 1 })
  const second = await api.newKey({ tenant: key.tenant })
  const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => api.fetch('/v1/models', { key: n % 2 === 0 ? key : second })))
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThanOrEqual(30)
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(2)
  const [first] = refused
  // Until the window of two seconds ends.
  const wait = first?.headers.get('retry-after')
  expect(['1', '2']).toContain(wait)
  expect(Object.fromEntries(first?.headers ?? [])).toMatchObject({
    'ratelimit-limit': '1',
    'ratelimit-remaining': '0',
    'ratelimit-reset': wait,
    'x-limit-name': 'requests_per_second',
  })
  expect(await first?.json()).toMatchObject({ error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' } })
  expect((await api.fetch('/v1/models')).status).toBe(200)
})

it.for([
  [{ sandboxSecondsPerDay: 10 }, { sandboxSeconds: 10 }, 'sandbox_seconds_exhausted', run],
  [{ dollarsPerDay: 1 }, { costUsd: 1.5 }, 'dollars_exhausted', run],
  [{ dollarsPerDay: 1 }, { costUsd: 1.5 }, 'dollars_exhausted', turn],
  [{ modelTokensPerDay: 100 }, { purpose: 'turn', modelInputTokens: 90, modelOutputTokens: 10 }, 'model_tokens_exhausted', turn],
] as const)('refuses work beyond %j until the next day', async ([limits, used, code, call]) => {
  const key = await tenantWith(limits)
  expect((await call(key)).status).toBeLessThan(300)
  await use(key, used)
  // No sum of usage is older than this while the limit is near.
  api.skew += 61_000
  const refused = await call(key)
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ error: { code } })
  expect(refused.headers.get('x-should-retry')).toBe('false')
  const untilMidnight = 86_400 - ((api.now() / 1000) % 86_400)
  expect(Math.abs(Number(refused.headers.get('retry-after')) - untilMidnight)).toBeLessThan(10)
  api.skew += 86_400_000
  expect((await call(key)).status).toBeLessThan(300)
})

it('sums the tokens of models in the usage', async () => {
  const key = await tenantWith({})
  await use(key, { purpose: 'turn', modelInputTokens: 7, modelOutputTokens: 3 })
  expect(await (await api.fetch('/v1/usage', { key })).json()).toMatchObject({
    total: { executions: 0, model_input_tokens: 7, model_output_tokens: 3 },
  })
})

it('limits the jobs of a tenant that have not ended, in all containers', async () => {
  const key = await tenantWith({ queuedJobs: 2 })
  const [first, last] = [await run(key), await run(key)]
  expect([first.status, last.status]).toEqual([202, 202])
  const refused = await run(key)
  expect([refused.status, refused.headers.get('x-limit-name'), refused.headers.get('ratelimit-limit')]).toEqual([429, 'queued_jobs', '2'])
  expect(await refused.json()).toMatchObject({ error: { code: 'too_many_queued' } })
  await finishExecution(api, key.tenant, ((await first.json()) as { id: string }).id)
  await expect.poll(async () => (await run(key)).status, { timeout: 10_000 }).toBe(202)
})

it('limits the stored bytes of a tenant, until it deletes some', async () => {
  const key = await tenantWith({ storageBytes: 2 ** 20 })
  const upload = (bytes: number) =>
    api.openai(key).files.create({ file: new File([new Uint8Array(bytes)], 'x'), purpose: 'user_data' }, { maxRetries: 0 })
  const { id } = await upload(700_000)
  await expect(upload(400_000)).rejects.toMatchObject({ status: 429, code: 'storage_exhausted' })
  await upload(300_000)
  await expect(upload(100_000)).rejects.toMatchObject({
    headers: expect.toSatisfy((h: Headers) => h.get('x-limit-name') === 'storage_bytes'),
  })
  await upload(40_000)
  const limits = (await (await api.fetch('/v1/limits', { key })).json()) as { limits: Record<string, { used: number }> }
  expect(limits.limits['storage_bytes']?.used).toBeGreaterThanOrEqual(1_040_000)
  await upload(4_500)
  expect(await (await run(key)).json()).toMatchObject({ error: { code: 'storage_exhausted' } })
  await api.openai(key).files.delete(id)
  await expect.poll(async () => (await run(key)).status).toBe(202)
})

it('limits the open streams of a tenant', async () => {
  const key = await tenantWith({ openStreams: 1 })
  const { id } = (await (await turn(key)).json()) as { id: string }
  const stop = new AbortController()
  const open = (signal: AbortSignal) => api.fetch(`/v1/responses/${id}?stream=true`, { key, signal })
  expect((await open(stop.signal)).status).toBe(200)
  const refused = await open(new AbortController().signal)
  expect([refused.status, refused.headers.get('x-limit-name')]).toEqual([429, 'open_streams'])
  stop.abort()
  await expect
    .poll(async () => {
      const again = new AbortController()
      const { status } = await open(again.signal)
      again.abort()
      return status
    })
    .toBe(200)
})
