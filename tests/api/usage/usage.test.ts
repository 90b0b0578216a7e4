import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import { dayOf, type UsageRecord } from '../../../services/model/usage/usage.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const record = (change: Partial<UsageRecord>): UsageRecord => ({
  v: 1,
  tenant: api.owner.tenant,
  subject: null,
  executionId: newId('execution'),
  day: '2026-11-01',
  sandboxSeconds: 0.1,
  cpuMs: 50,
  peakMemoryBytes: 1_000,
  outputBytes: 10,
  costUsd: 0.000001,
  ...change,
})
const usage = async (query: string, key: TestKey = api.owner): Promise<Record<string, unknown>> =>
  (await (await api.fetch(`/v1/usage${query}`, { key })).json()) as Record<string, unknown>

it('sums executions per day and in total, each once', async () => {
  const first = record({})
  const { usage: store } = api.table
  await Promise.all(
    [first, record({ sandboxSeconds: 0.2, peakMemoryBytes: 9_000 }), record({ day: '2026-11-03' })].map((one) => store.put(one)),
  )
  await store.put(first)
  await store.put(record({ day: '2026-10-31' }))
  await store.put(record({ tenant: api.otherTenant.tenant }))
  const one = { executions: 1, sandbox_seconds: 0.1, cpu_seconds: 0.05, peak_memory_bytes: 1_000, output_bytes: 10, cost_usd: 0.000001 }
  expect(await usage('?from=2026-11-01&to=2026-11-03')).toMatchObject({
    object: 'usage',
    from: '2026-11-01',
    to: '2026-11-03',
    days: [
      {
        date: '2026-11-01',
        executions: 2,
        sandbox_seconds: 0.3,
        cpu_seconds: 0.1,
        peak_memory_bytes: 9_000,
        output_bytes: 20,
        cost_usd: 0.000002,
      },
      { date: '2026-11-03', ...one },
    ],
    total: { executions: 3, sandbox_seconds: 0.4, cost_usd: 0.000003 },
    prices_region: 'us-east-1',
  })
  expect(await usage('?from=2026-11-01&to=2026-11-01', api.otherTenant)).toMatchObject({ total: one })
})

it('covers the last 30 days by default', async () => {
  const today = dayOf(Date.now())
  await api.table.usage.put(record({ day: today }))
  expect(await usage('')).toMatchObject({ from: dayOf(Date.now() - 30 * 86_400_000), to: today })
})

it("shows a key bound to an end user only that user's usage", async () => {
  const tenant = newId('tenant')
  const anna = await api.newKey({ tenant, subject: 'anna' })
  for (const subject of ['anna', 'ben', null]) await api.table.usage.put(record({ tenant, subject }))
  expect(await usage('?from=2026-11-01&to=2026-11-01', anna)).toMatchObject({ total: { executions: 1 } })
  expect(await usage('?from=2026-11-01&to=2026-11-01', await api.newKey({ tenant }))).toMatchObject({ total: { executions: 3 } })
})

it.each(['?from=2026-11-02&to=2026-11-01', '?from=2026-01-01&to=2026-11-01', '?from=yesterday', '?to=2026-02-30', '?from='])(
  'refuses %s',
  async (query) => {
    expect(await usage(query)).toMatchObject({ error: { code: 'invalid_request', param: expect.stringMatching(/^(from|to)$/) as string } })
  },
)
