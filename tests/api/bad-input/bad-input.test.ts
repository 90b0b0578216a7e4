import { request } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LIMITS } from '../../../services/model/limits.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
let run: string
beforeAll(async () => {
  api = await startApi()
  run = `/v1/containers/${(await api.openai().containers.create({ name: 'bad' })).id}/executions?wait=0`
})
afterAll(() => api.stop())

const refusal = async (answer: Response): Promise<readonly [number, string]> => {
  const text = await answer.text()
  expect(text).not.toMatch(/\bat .*\.(ts|js):\d+|node_modules|stack/)
  const body = JSON.parse(text) as { error: { code: string; message: string } }
  expect(body.error.message).toMatch(/^[A-Z'].*\.$/s)
  return [answer.status, body.error.code]
}

const JSON_ENTRANCES = ['/v1/containers', '/v1/responses'] as const
const BROKEN: readonly (readonly [what: string, body: string | Uint8Array<ArrayBuffer>, code: string])[] = [
  ['nothing', '', 'invalid_json'],
  ['half an object', '{"name": ', 'invalid_json'],
  ['a word', 'hello', 'invalid_json'],
  ['two objects', '{}{}', 'invalid_json'],
  ['a million brackets', '['.repeat(1_000_000), 'invalid_json'],
  ['65 levels', `{"name":${'['.repeat(64)}${']'.repeat(64)}}`, 'invalid_json'],
  ['broken UTF-8', new Uint8Array([123, 34, 195, 40, 34, 125]), 'invalid_json'],
  ['null', 'null', 'invalid_request'],
  ['a number', '1e400', 'invalid_request'],
  ['a list', '[]', 'invalid_request'],
]
it.for(JSON_ENTRANCES.flatMap((path) => BROKEN.map((entry) => [path, ...entry] as const)))(
  '%s refuses %s',
  async ([path, , body, code]) => {
    expect(await refusal(await api.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body }))).toEqual([
      400,
      code,
    ])
  },
)

it.for(['executions?timeout=60', 'executions?limit=1&cursor=x', 'entries?path=.&recursive=true'])(
  'refuses the unknown query parameter of GET …/%s and names it',
  async (path) => {
    const answer = await api.fetch(run.replace('executions?wait=0', path))
    const unknown = /(timeout|cursor|recursive)/.exec(path)?.[1]
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({
        error: expect.objectContaining({ param: unknown, message: expect.stringContaining('no such parameter') }),
      }),
    ])
  },
)

it('does not repeat the body in its reply', async () => {
  const answer = await api.post('/v1/containers', '{"secret": "hunter2" oops')
  expect(await answer.text()).not.toContain('hunter2')
})

it('refuses the key __proto__ in every spelling, and is not affected by constructor', async () => {
  for (const path of ['/v1/containers', '/v1/conversations', run])
    for (const body of ['{"__proto__":{"memory_limit":"64g"}}', '{"metadata":{"\\u005f_proto__":{"isAdmin":true}}}']) {
      const refused = await api.post(path, body)
      expect([refused.status, await refused.json()]).toMatchObject([
        400,
        { error: { code: 'invalid_json', message: expect.stringContaining('Rename or remove this key') } },
      ])
    }
  const body = '{"name":"p","constructor":{"prototype":{"isAdmin":true}}}'
  const unknown = await api.post('/v1/containers', body)
  expect([unknown.status, await unknown.json()]).toMatchObject([400, { error: { param: 'constructor' } }])
  const ignored = await api.post('/v1/conversations', body)
  expect([ignored.status, await ignored.json()]).toMatchObject([200, { metadata: {} }])
  expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined()
  const row = await api.post(run, { code: 'x.__proto__ = {"__proto__": 1}', metadata: { a: '__proto__' } })
  expect(await row.json()).toMatchObject({ metadata: { a: '__proto__' } })
})

it('does not count brackets inside strings', async () => {
  expect((await api.post('/v1/containers', { name: '['.repeat(100) })).status).toBe(200)
})

it.for(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
  'refuses the content type %j',
  async (type) => {
    const body = new Blob(['{"name":"x"}'])
    expect(await refusal(await api.fetch('/v1/containers', { method: 'POST', body, headers: { 'content-type': type } }))).toEqual([
      415,
      'unsupported_media_type',
    ])
  },
)

it('refuses compressed bodies', async () => {
  const body = gzipSync('{"name":"x"}')
  expect(
    await refusal(
      await api.fetch('/v1/containers', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      }),
    ),
  ).toEqual([415, 'unsupported_media_type'])
})

it('returns 413 for an announced body of 200 MB before it is sent', async () => {
  const status = await new Promise((resolve, reject) => {
    const outgoing = request(`${api.url}/v1/containers`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${api.owner.key}`,
        'content-type': 'application/json',
        'content-length': 200 * 1024 * 1024,
        expect: '100-continue',
      },
    })
    outgoing.on('response', (answer) => resolve(answer.statusCode)).on('error', reject)
    outgoing.flushHeaders()
  })
  expect(status).toBe(413)
})

it.for(['/v1/containers', '/v1/responses', '/v1/nowhere', '/healthz'])(
  'does not read 200 MB that are sent to %s without a length',
  async (path) => {
    const chunk = Buffer.alloc(1024 * 1024, ' ')
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += chunk.byteLength
        if (sent > 200 * 1024 * 1024) controller.close()
        else controller.enqueue(chunk)
      },
    })
    const answer = await api
      .fetch(path, { method: 'POST', body, duplex: 'half', headers: { 'content-type': 'application/json' } } as RequestInit)
      .then(
        (response) => response.status,
        () => 'cut off',
      )
    // The server replies, reads at most 64 MB more, so that the client can read the reply, and closes the connection.
    expect([413, 404, 405, 'cut off']).toContain(answer)
    expect(sent).toBeLessThan(LIMITS.maxJsonBytes + 96 * 1024 * 1024)
  },
)

it.for([
  ['GET', '/', 404, 'not_found'],
  ['GET', '/v1', 404, 'not_found'],
  ['POST', '/v1/nothing', 404, 'not_found'],
  ['GET', '/v1/containers/', 404, 'not_found'],
  ['GET', '/v1/containers/..%2f..%2fx', 404, 'container_not_found'],
  ['GET', '/v1/containers/%00', 404, 'container_not_found'],
  ['GET', '/v1/containers/%E0%A4%A', 404, 'container_not_found'],
  ['GET', `/v1/containers/${'x'.repeat(5_000)}`, 404, 'container_not_found'],
  ['GET', '/v1/executions/exec_', 404, 'execution_not_found'],
  ['DELETE', '/v1/links/x', 404, 'link_not_found'],
  ['GET', '/d/x', 404, 'link_not_found'],
  ['GET', '/v1/models/nope', 404, 'model_not_found'],
  ['PUT', '/v1/containers', 405, 'method_not_allowed'],
  ['DELETE', '/v1/responses', 405, 'method_not_allowed'],
  ['PATCH', '/healthz', 405, 'method_not_allowed'],
  ['OPTIONS', '/v1/models', 405, 'method_not_allowed'],
] as const)('%s %s returns %i %s', async ([method, path, status, code]) => {
  const answer = await api.fetch(path, { method })
  expect(await refusal(answer)).toEqual([status, code])
  if (status === 405) expect(answer.headers.get('allow')).toMatch(/^[A-Z, ]+$/)
})

it.for(['evil.example"onload=', 'a b', 'user@host', 'x/../y', ''])('refuses the Host header %j', async (host) => {
  const status = await new Promise<string>((resolve, reject) => {
    const { port } = new URL(api.url)
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write(`GET /v1/models HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${api.owner.key}\r\nConnection: close\r\n\r\n`),
    )
    socket.once('data', (data) => resolve(data.toString().split(' ')[1] ?? '')).once('error', reject)
  })
  expect(status).toBe('400')
})

it('sets headers that prevent browsers from executing replies', async () => {
  for (const answer of [await api.fetch('/healthz'), await api.fetch('/v1/nothing'), await api.post('/v1/containers', '{')]) {
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-request-id': expect.stringMatching(/^req_/),
    })
  }
})

it('emits one wide event per request without keys and content', async () => {
  const before = api.events.length
  await api.post(run, { code: 'SECRET_CODE' })
  await api.post(run, '{')
  const events = api.events.slice(before)
  expect(events).toMatchObject([
    {
      event: 'http.request',
      outcome: 'ok',
      route: 'runCode',
      status: 202,
      tenant: api.owner.tenant,
      key_id: api.owner.keyId,
      execution_id: expect.any(String),
      duration_ms: expect.any(Number),
    },
    { outcome: 'refused', status: 400, code: 'invalid_json' },
  ])
  expect(JSON.stringify(events)).not.toMatch(/SECRET_CODE|ck_/)
})

it('answers a JSON body of 30 MB with 413 that the client can read', async () => {
  const body = JSON.stringify({ model: 'demo', input: 'x'.repeat(30 * 1024 * 1024) })
  const answer = await api.fetch('/v1/containers', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  expect(answer.status).toBe(413)
  expect(await answer.json()).toMatchObject({ error: { code: 'request_too_large' } })
})
