import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TenantLimits } from '../../services/model/tenants/tenant-limits.ts'
import { upload } from '../support/librechat.ts'
import { startApi, type TestApi, type TestKey } from '../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const BASE = '/librechat/v1'
type Json = Record<string, unknown>
const json = async (answer: Response): Promise<Json> => (await answer.json()) as Json

it('gives the bytes of a file only to a key with the scope "files"', async () => {
  const { session, fileId } = await upload(api, 'a.txt', 'secret')
  const { tenant } = api.owner
  const [reader, files] = [await api.newKey({ tenant, scopes: ['read'] }), await api.newKey({ tenant, scopes: ['files'] })]
  const path = `${BASE}/download/${session}/${fileId}`
  expect((await api.fetch(path, { key: reader })).status).toBe(403)
  expect(await (await api.fetch(path, { key: files })).text()).toBe('secret')
  expect((await api.fetch(`${BASE}/files/${session}`, { key: reader })).status).toBe(200)
})

describe('a refusal has the form of the wire', () => {
  const REFUSAL = { error: expect.any(String), message: expect.any(String) }

  it.each([
    ['a missing key', 401, 'invalid_api_key', () => api.fetch(`${BASE}/files/x`, { key: null })],
    ['a key without the scope', 403, 'insufficient_scope', async () => api.post(`${BASE}/exec`, {}, { key: await readOnly() })],
    ['a parameter given twice', 400, 'bad_request', () => api.fetch(`${BASE}/files/x?detail=full&detail=simple`)],
    ['a body that is not JSON', 400, 'bad_request', () => api.post(`${BASE}/exec`, '{')],
    ['a body of another type', 415, 'unsupported_media_type', () => api.fetch(`${BASE}/exec`, { method: 'POST', body: 'x' })],
    ['a body without code', 400, 'bad_request', () => api.post(`${BASE}/exec/programmatic`, { tools: [] })],
  ])('for %s', async (_what, status, error, request) => {
    const answer = await request()
    expect([answer.status, await json(answer)]).toEqual([status, { ...REFUSAL, error }])
  })

  it('for too many requests, with the limit and the seconds to wait', async () => {
    const key = await limited({ requestsPerSecond: 1 })
    const answers = await Promise.all(Array.from({ length: 30 }, () => api.fetch(`${BASE}/files/x`, { key })))
    const refused = answers.find(({ status }) => status === 429)
    const wait = Number(refused?.headers.get('retry-after'))
    expect([1, 2]).toContain(wait)
    expect(Object.fromEntries(refused?.headers ?? [])).toMatchObject({ 'ratelimit-limit': '1', 'ratelimit-reset': String(wait) })
    expect(await refused?.json()).toEqual({ ...REFUSAL, error: 'rate_limited', retry_after_seconds: wait })
  })

  it('for a limit whose wait is longer than a second', async () => {
    const key = await limited({ storageBytes: 0 })
    const answer = await api.post(`${BASE}/exec`, { lang: 'py', code: '1' }, { key })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'retry-after': '60',
      'ratelimit-limit': '0',
      'x-limit-name': 'storage_bytes',
    })
    expect([answer.status, await json(answer)]).toEqual([429, { ...REFUSAL, error: 'rate_limited', retry_after_seconds: 60 }])
  })
})

it('cancels code that runs longer than a call can be held, and answers 504', async () => {
  const brief = await startApi({ config: { maxHoldSeconds: 0.1 } })
  try {
    const answer = await brief.post(`${BASE}/exec`, { lang: 'py', code: 'forever()' })
    expect([answer.status, await json(answer)]).toMatchObject([504, { error: 'execution_timeout' }])
    const { rows } = await brief.table.containers.list(brief.owner.tenant, { after: null, limit: 10, order: 'desc', name: null })
    const executions = await brief.table.executions.listByContainer(brief.owner.tenant, rows[0]?.id ?? '', {
      after: null,
      limit: 10,
      order: 'desc',
    })
    expect(executions.rows.map(({ status }) => status)).toEqual(['cancelled'])
  } finally {
    await brief.stop()
  }
})

const readOnly = () => api.newKey({ tenant: api.owner.tenant, scopes: ['read'] })

/** A key of a new tenant with these limits. */
async function limited(limits: Partial<TenantLimits>): Promise<TestKey> {
  const key = await api.newKey()
  await api.table.tenants.create({ v: 1, id: key.tenant, name: key.tenant, createdAt: Date.now(), policy: { limits } })
  return key
}
