import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const cases: readonly (readonly [string, unknown, string, string])[] = [
  ['no name', {}, 'invalid_request', 'name'],
  ['an empty name', { name: '' }, 'invalid_request', 'name'],
  ['a name of 300 bytes', { name: 'ä'.repeat(150) }, 'invalid_request', 'name'],
  ['half of a character for a name', { name: 'x\ud800' }, 'invalid_request', 'name'],
  ['an unknown tier', { name: 'x', memory_limit: '2g' }, 'invalid_request', 'memory_limit'],
  ['no minutes', { name: 'x', expires_after: { anchor: 'last_active_at', minutes: 0 } }, 'invalid_request', 'expires_after.minutes'],
  ['another anchor', { name: 'x', expires_after: { anchor: 'created_at', minutes: 5 } }, 'invalid_request', 'expires_after.anchor'],
  [
    'a list of hosts',
    { name: 'x', network_policy: { type: 'allowlist', allowed_domains: ['a.example.com'] } },
    'unsupported_value',
    'network_policy',
  ],
  ['a misspelt field', { name: 'x', memory_size: '4g' }, 'invalid_request', 'memory_size'],
  ['an image that is not offered', { name: 'x', image: 'huge' }, 'unsupported_value', 'image'],
  ['a malformed name of an image', { name: 'x', image: 'Not a name' }, 'invalid_request', 'image'],
]
it.for(cases)('refuses %s', async ([, body, code, param]) => {
  const answer = await api.post('/v1/containers', body)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ error: { code, param, type: 'invalid_request_error' } })
})

it('refuses missing files and creates no container', async () => {
  const key = await api.newKey()
  const theirs = await api.openai(api.otherTenant).containers.create({ name: 'theirs' })
  const file = await api.openai(api.otherTenant).containers.files.create(theirs.id, { file: new File(['x'], 'x') })
  for (const id of [file.id, 'cfile_01kajv9h2s8p0ww3d4dq4cs1zt', 'file-abc', '']) {
    const answer = await api.post('/v1/containers', { name: 'x', file_ids: [id] }, { key })
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: 'file_not_found', param: 'file_ids' } }])
  }
  expect((await api.openai(key).containers.list()).data).toEqual([])
})

it.for(['limit=0', 'limit=101', 'limit=abc', 'limit=1&limit=2', 'order=up', 'after=a&after=b'])(
  'refuses to list with ?%s',
  async (query) => {
    const answer = await api.fetch(`/v1/containers?${query}`)
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param: query.split('=')[0] } }])
  },
)
