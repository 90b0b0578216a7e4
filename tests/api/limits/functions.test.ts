import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

/** Calls that the functions of a deployment can have open. */
const FUNCTIONS = 30

let api: TestApi
beforeAll(async () => {
  api = await startApi({ config: { openCalls: FUNCTIONS } })
})
afterAll(() => api.stop())

it('lets a tenant without a setting send a third as many requests per second as functions can serve', async () => {
  const key = await api.newKey()
  const limits = (await (await api.fetch('/v1/limits', { key })).json()) as { limits: { requests_per_second: { value: number } } }
  expect(limits.limits.requests_per_second.value).toBe(FUNCTIONS / 3)
  const statuses = await Promise.all(Array.from({ length: 100 }, async () => (await api.fetch('/v1/limits', { key })).status))
  expect(statuses).toContain(429)
})
