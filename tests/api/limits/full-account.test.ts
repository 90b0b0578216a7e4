import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROUTES } from '../../../services/wires/routes.ts'
import { STORED } from '../../support/stored-by-tenants.ts'
import { fillAccount, storedBytesOf } from '../../support/full-account.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
let key: TestKey
let ids: Readonly<Record<string, string>>
beforeAll(async () => {
  api = await startApi()
  ;({ key, ids } = await fillAccount(api))
})
afterAll(() => api.stop())

const writing = ROUTES.filter(({ method, scope }) => method !== 'get' && scope !== 'admin').map(({ operationId }) => operationId)

it('knows of every route that writes whether a tenant can store more with it', () => {
  expect(Object.keys(STORED).toSorted()).toEqual([...new Set(writing)].toSorted())
})

const growing = Object.entries(STORED).flatMap(([operationId, entry]) => (typeof entry === 'string' ? [] : [{ operationId, ...entry }]))

it.for(growing)('$operationId stores no byte for a full account', async ({ send }) => {
  const before = await storedBytesOf(api, key.tenant)
  const { method = 'POST', path, body, headers = {} } = send(ids)
  const answer = await api.fetch(path, {
    key,
    method,
    headers: {
      ...(path.startsWith('/e2b/') && { 'x-api-key': key.key }),
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
  // MCP and the streams of E2B answer 200 and tell the error in their messages.
  expect([200, 429]).toContain(answer.status)
  expect(await answer.text()).toMatch(/storage_exhausted|stores as much as it may/)
  expect(await storedBytesOf(api, key.tenant)).toBe(before)
})

it('lets a full account cancel and delete', async () => {
  for (const [method, path] of [
    ['POST', `/v1/responses/${ids['response']}/cancel`],
    ['POST', `/v1/executions/${ids['execution']}/cancel`],
    ['POST', `/v1/uploads/${ids['upload']}/cancel`],
    ['DELETE', `/v1/responses/${ids['response']}`],
    ['DELETE', `/v1/skills/${ids['skill']}`],
    ['DELETE', `/v1/conversations/${ids['conversation']}`],
    ['DELETE', `/v1/files/${ids['file']}`],
    ['DELETE', `/v1/containers/${ids['container']}`],
  ] as const) {
    const answer = await api.fetch(path, { method, key })
    expect([path, answer.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)])
  }
  // The deleted bytes are free again.
  await expect.poll(async () => (await api.post('/v1/conversations', {}, { key })).status).toBe(200)
})
