import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let containerId: string
beforeAll(async () => {
  api = await startApi()
  containerId = (await api.openai().containers.create({ name: 'fuzz' })).id
})
afterAll(() => api.stop())

const NAMES = [
  'name',
  'code',
  'notebook',
  'nbformat',
  'cells',
  'cell_type',
  'source',
  'timeout_seconds',
  'metadata',
  'model',
  'input',
  'role',
  'content',
  'type',
  'tools',
  'container',
  'file_ids',
  'memory_limit',
  'expires_after',
  'minutes',
  'anchor',
  'path',
  'bytes',
  'sha256',
  'file_id',
  'include',
  'background',
  'store',
  'tool_choice',
  '__proto__',
  'constructor',
  'toString',
]
const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    Number.MAX_VALUE,
    4,
    0.5,
    '',
    'code',
    'demo',
    'auto',
    'code_interpreter',
    'message',
    'user',
    'last_active_at',
    '1g',
    '../../x',
    'x'.repeat(2_000),
    '\ud800',
    '\u0000',
    '💥',
  ),
  fc.string(),
  fc.double(),
)
const document = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 6 }),
  ),
})).value

it('replies to any body with a status below 500 and an envelope', async () => {
  const entrances = [
    '/v1/containers',
    '/v1/responses',
    `/v1/containers/${containerId}/executions?wait=0`,
    `/v1/containers/${containerId}/files`,
    `/v1/containers/${containerId}/files/upload_url`,
  ]
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...entrances), document, async (path, body) => {
      const background =
        path === '/v1/responses' && typeof body === 'object' && body !== null && !Array.isArray(body)
          ? { ...body, background: true, stream: false }
          : body
      const answer = await api.post(path, JSON.stringify(background) ?? '')
      const text = await answer.text()
      expect(answer.status, text).toBeLessThan(500)
      if (answer.status >= 400)
        expect(JSON.parse(text)).toMatchObject({
          error: { code: expect.any(String), message: expect.stringMatching(/\.$/) },
          request_id: expect.stringMatching(/^req_/),
        })
    }),
    { numRuns: 600 },
  )
})

it('replies to any path and query with a status below 500', async () => {
  const segment = fc.oneof(
    fc.constantFrom('v1', 'containers', 'responses', 'executions', 'files', 'content', 'd', containerId, '..', '%2e%2e', '%00', '%ff'),
    fc.string().map(encodeURIComponent),
  )
  const query = fc.dictionary(
    fc.constantFrom('wait', 'limit', 'after', 'order', 'stream', 'starting_after', 'include[]', 'name'),
    fc.string().map(encodeURIComponent),
    { maxKeys: 3 },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
      fc.array(segment, { maxLength: 6 }),
      query,
      async (method, segments, parameters) => {
        fc.pre(!(method === 'DELETE' && segments.length < 4))
        const search = Object.entries(parameters)
          .map(([name, value]) => `${name}=${value}`)
          .join('&')
        const answer = await api.fetch(`/${segments.join('/')}?${search}`, { method, signal: AbortSignal.timeout(10_000) })
        await answer.body?.cancel()
        expect(answer.status).toBeLessThan(500)
      },
    ),
    { numRuns: 600 },
  )
})
