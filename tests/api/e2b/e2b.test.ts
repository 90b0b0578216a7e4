import { createHash } from 'node:crypto'
import { request, type RequestOptions } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiKeyRow } from '../../../services/model/tenants/api-keys.ts'
import { SCOPES } from '../../../services/model/tenants/tenant.ts'
import { ROUTES } from '../../../services/wires/routes.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

/** The API of this test has the image `slim` only. */
const TEMPLATES = 'team/reports:v2=slim,large=full'
let api: TestApi
beforeAll(async () => {
  api = await startApi({
    config: { keyCacheMs: 0, wireSettings: { CELLBLOCK_E2B_DOMAIN: 'e2b.test', CELLBLOCK_E2B_TEMPLATES: TEMPLATES } },
  })
})
afterAll(() => api.stop())

interface Opened {
  readonly sandboxID: string
  readonly envdAccessToken: string
  readonly trafficAccessToken: string
}

const control = (method: string, path: string, key: TestKey, body?: unknown): Promise<Response> =>
  fetch(`${api.url}/e2b${path}`, {
    method,
    headers: { 'x-api-key': key.key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
const create = async (key: TestKey, body: unknown = {}): Promise<Opened> => {
  const answer = await control('POST', '/v2/sandboxes', key, body)
  expect(answer.status).toBe(201)
  return (await answer.json()) as Opened
}
const contexts = (sandboxId: string, token: string): Promise<Response> =>
  fetch(`${api.url}/e2b/contexts`, { headers: { 'e2b-sandbox-id': sandboxId, 'e2b-traffic-access-token': token } })

describe('the control plane', () => {
  it('creates, describes, lists and deletes sandboxes of its key', async () => {
    const { sandboxID } = await create(api.owner, { templateID: 'base', timeout: 60, metadata: { a: 'b c' } })
    expect(sandboxID).toMatch(/^[0-9a-z]{52}$/)
    const read = async (): Promise<unknown> => (await control('GET', `/sandboxes/${sandboxID}`, api.owner)).json()
    expect(await read()).toMatchObject({ sandboxID, state: 'running', metadata: { a: 'b c' }, templateID: 'base' })
    const query = `metadata=${encodeURIComponent(new URLSearchParams({ a: 'b%20c' }).toString())}`
    const listed = (await (await control('GET', `/v2/sandboxes?${query}`, api.owner)).json()) as Opened[]
    expect(listed.map((row) => row.sandboxID)).toEqual([sandboxID])
    expect(await (await control('GET', '/v2/sandboxes?metadata=a%3Dx', api.owner)).json()).toEqual([])
    expect((await control('DELETE', `/sandboxes/${sandboxID}`, api.owner)).status).toBe(204)
    const gone = await control('DELETE', `/sandboxes/${sandboxID}`, api.owner)
    expect([gone.status, await gone.json()]).toMatchObject([404, { code: 404, message: expect.stringContaining('No sandbox') }])
  })

  it.each([{ 'A=B': 'x' }, { A: 'x\0' }, { A: '\ud800' }, { '': 'x' }])('refuses variables that no program takes: %j', async (envVars) => {
    const answer = await control('POST', '/v2/sandboxes', api.owner, { envVars })
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 400 }])
  })

  it('lists by metadata with a percent sign, encoded once or twice', async () => {
    const { sandboxID } = await create(api.owner, { metadata: { p: '50%', 'a%': 'x' } })
    for (const query of ['metadata=p%3D50%2525', 'metadata=p%3D50%252525', 'metadata=a%2525%3Dx', 'metadata=a%2525%3Dx%26p%3D50%2525']) {
      const answer = await control('GET', `/v2/sandboxes?${query}`, api.owner)
      expect([answer.status, await answer.json()], query).toMatchObject([200, [{ sandboxID }]])
    }
    expect(await (await control('GET', '/v2/sandboxes?metadata=p%3D51%2525', api.owner)).json()).toEqual([])
  })

  it('fills its pages with the sandboxes that the caller may see', async () => {
    const ann = await api.newKey({ subject: 'ann' })
    const bob = await api.newKey({ tenant: ann.tenant, subject: 'bob' })
    const page = async (query: string): Promise<readonly [readonly string[], string | null]> => {
      const answer = await control('GET', `/v2/sandboxes?${query}`, ann)
      expect(answer.status, query).toBe(200)
      return [((await answer.json()) as Opened[]).map((row) => row.sandboxID), answer.headers.get('x-next-token')]
    }
    const created: string[] = []
    for (const metadata of [{ n: '1' }, { n: '2' }, { n: '1' }]) {
      created.push((await create(ann, { metadata })).sandboxID)
      for (let more = 0; more < 3; more++) await create(bob)
    }
    const [oldest = '', second = '', newest = ''] = created
    const [first, token] = await page('limit=2')
    expect(first).toEqual([newest, second])
    expect(await page(`limit=2&nextToken=${token}`)).toEqual([[oldest], null])
    expect(await page('limit=2&metadata=n%3D1')).toEqual([[newest, oldest], null])
    // More rows follow, but none that the filter lets pass.
    expect(await page('limit=1&metadata=n%3D2')).toEqual([[second], null])
    for (const query of ['limit=1.5', 'limit=x', 'limit=-1', 'nextToken=%00', `nextToken=${'x'.repeat(3_000)}`]) await page(query)
  })

  it('refuses in the form of E2B', async () => {
    const refused = async (answer: Promise<Response>): Promise<unknown> => {
      const { status } = await answer
      return [status, await (await answer).json()]
    }
    const wrong = { ...api.owner, key: 'ck_wrong' }
    expect(await refused(control('GET', '/v2/sandboxes', wrong))).toMatchObject([401, { code: 401 }])
    expect(await refused(control('POST', '/v2/sandboxes', api.owner, { timeout: 'x' }))).toMatchObject([400, { code: 400 }])
    expect(await refused(control('POST', '/v2/sandboxes', api.owner, { templateID: 'x' }))).toMatchObject([404, { code: 404 }])
    expect(await refused(control('POST', '/v2/sandboxes', api.owner, { volumeMounts: [{}] }))).toMatchObject([501, { code: 501 }])
    expect(
      await refused(control('POST', '/v2/sandboxes', api.owner, { envVars: { A: 'x'.repeat(20_000), B: 'x'.repeat(20_000) } })),
    ).toMatchObject([413, {}])
    expect(await refused(control('GET', '/secrets', api.owner))).toMatchObject([501, { code: 501 }])
  })

  it('takes templates as names of images, lists them and says which exist', async () => {
    const { sandboxID } = await create(api.owner, { templateID: 'team/reports:v2' })
    expect(await (await control('GET', `/sandboxes/${sandboxID}`, api.owner)).json()).toMatchObject({ templateID: 'team/reports:v2' })
    const [row] = (await api.table.containers.list(api.owner.tenant, { after: null, limit: 1, order: 'desc', name: 'e2b' })).rows
    expect(row).toMatchObject({ image: 'slim' })
    for (const path of ['/templates', '/v2/templates']) {
      const [image, ...others] = (await (await control('GET', path, api.owner)).json()) as { templateID: string; names: string[] }[]
      expect([image, others]).toMatchObject([{ templateID: 'slim', buildStatus: 'ready' }, []])
      expect(image?.names).toEqual(['slim', 'team/reports:v2', 'base', 'code-interpreter-v1', 'code-interpreter-beta', 'desktop'])
    }
    const exists = async (alias: string): Promise<unknown> => {
      const answer = await control('GET', `/templates/aliases/${encodeURIComponent(alias)}`, api.owner)
      return [answer.status, await answer.json()]
    }
    expect(await exists('team/reports:v2')).toEqual([200, { templateID: 'slim', public: true }])
    expect(await exists('base')).toEqual([200, { templateID: 'slim', public: true }])
    expect(await exists('inspect-0123')).toMatchObject([404, { code: 404, message: expect.stringContaining('CELLBLOCK_E2B_TEMPLATES') }])
    expect(await exists('large')).toMatchObject([404, { message: expect.stringContaining('alias of the image full') }])
  })

  it('requires the scope of each route', async () => {
    for (const route of ROUTES.filter(({ path }) => /^\/e2b\/(?:.*\/)?(?:sandboxes|snapshots)$/.test(path))) {
      const key = await api.newKey({ scopes: SCOPES.filter((scope) => scope !== route.scope) })
      const answer = await control(route.method.toUpperCase(), route.path.slice('/e2b'.length).replaceAll(/\{\w+\}/g, 'x'), key)
      expect([answer.status, await answer.json()], route.operationId).toMatchObject([403, { code: 403 }])
    }
  })

  it('deletes a sandbox at its timeout, and answers every later call with 502', async () => {
    const { sandboxID, trafficAccessToken } = await create(api.owner, { timeout: 10 })
    api.skew += 11_000
    expect((await contexts(sandboxID, trafficAccessToken)).status).toBe(502)
    for (const token of [trafficAccessToken, 'x']) {
      const answer = await contexts(sandboxID, token)
      expect([answer.status, await answer.json()]).toEqual([502, { sandboxId: sandboxID, code: 502, message: 'The sandbox was not found' }])
    }
    expect((await control('GET', `/sandboxes/${sandboxID}`, api.owner)).status).toBe(404)
  })

  it('shows a sandbox as paused whose timeout pauses it, until a client connects', async () => {
    const paused = await create(api.owner, { timeout: 10, autoPause: true })
    api.skew += 11_000
    const state = async (): Promise<unknown> => (await control('GET', `/sandboxes/${paused.sandboxID}`, api.owner)).json()
    expect(await state()).toMatchObject({ state: 'paused' })
    const listed = async (wanted: string): Promise<readonly string[]> =>
      ((await (await control('GET', `/v2/sandboxes?state=${wanted}`, api.owner)).json()) as Opened[]).map(({ sandboxID }) => sandboxID)
    expect(await listed('paused')).toContain(paused.sandboxID)
    expect(await listed('running')).not.toContain(paused.sandboxID)
    expect((await contexts(paused.sandboxID, paused.trafficAccessToken)).status).toBe(502)
    expect((await control('POST', `/sandboxes/${paused.sandboxID}/pause`, api.owner)).status).toBe(409)
    expect((await control('POST', `/v2/sandboxes/${paused.sandboxID}/connect`, api.owner, { timeout: 60 })).status).toBe(201)
    expect(await state()).toMatchObject({ state: 'running' })
    expect((await contexts(paused.sandboxID, paused.trafficAccessToken)).status).toBe(200)
  })

  it('resumes a sandbox whose timeout has paused it with a call, if its client chose that', async () => {
    const { sandboxID, trafficAccessToken } = await create(api.owner, { timeout: 10, autoPause: true, autoResume: { enabled: true } })
    api.skew += 11_000
    expect((await contexts(sandboxID, trafficAccessToken)).status).toBe(200)
    expect(await (await control('GET', `/sandboxes/${sandboxID}`, api.owner)).json()).toMatchObject({ state: 'running' })
  })

  it('refuses that calls wake a sandbox that pauses without its memory', async () => {
    const wanted = { templateID: 'base', autoPause: true, autoPauseMemory: false, autoResume: { enabled: true } }
    const answer = await control('POST', '/v2/sandboxes', api.owner, wanted)
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { message: 'A sandbox that pauses without its memory resumes by `connect` only. Omit `autoPauseMemory` or `autoResume`.' },
    ])
  })

  it('accepts a key in the form of keys of E2B', async () => {
    const digits = Buffer.from(api.owner.key).toString('hex')
    for (const [key, status] of [
      [`e2b_${digits}`, 200],
      [`e2b_${digits}00`, 401],
      [`e2b_${digits.slice(1)}`, 401],
    ] as const)
      expect((await control('GET', '/v2/sandboxes', { ...api.owner, key })).status, key).toBe(status)
  })

  it('accepts network rules that only forbid, and refuses those that allow', async () => {
    for (const network of [{ allowPublicTraffic: false }, { denyOut: ['0.0.0.0/0'], allowOut: [] }, {}, null])
      expect((await control('POST', '/v2/sandboxes', api.owner, { network })).status, JSON.stringify(network)).toBe(201)
    for (const network of [{ allowOut: ['10.0.0.1'] }, { rules: { a: [] } }, { egressProxy: { address: 'x' } }]) {
      const answer = await control('POST', '/v2/sandboxes', api.owner, { network })
      expect([answer.status, await answer.json()], JSON.stringify(network)).toMatchObject([501, { code: 501 }])
    }
  })

  it('answers one sample of usage for the present, and none for the past', async () => {
    const { sandboxID } = await create(api.owner)
    const metrics = async (query = ''): Promise<unknown> =>
      (await control('GET', `/sandboxes/${sandboxID}/metrics${query}`, api.owner)).json()
    const now = Math.floor(api.now() / 1000)
    const sample = [{ cpuCount: 1, cpuUsedPct: 0, memUsed: 0, diskUsed: 0 }]
    expect(await metrics()).toMatchObject(sample)
    expect(await metrics(`?start=${now - 5}&end=${now}`)).toMatchObject(sample)
    expect(await metrics(`?start=${now - 3_600}&end=${now - 1_800}`)).toEqual([])
    expect((await control('GET', `/sandboxes/${sandboxID}/metrics`, api.otherTenant)).status).toBe(404)
  })

  it('answers the executions of a sandbox as its logs, without their code', async () => {
    const { sandboxID } = await create(api.owner)
    const started = await api.post(`/v1/containers/cntr_${sandboxID.slice(0, 26)}/executions?wait=0`, { code: 'secret = 1' })
    expect(started.status).toBe(202)
    for (const path of [`/sandboxes/${sandboxID}/logs`, `/v2/sandboxes/${sandboxID}/logs`]) {
      const text = await (await control('GET', path, api.owner)).text()
      expect(text).toContain('is queued')
      expect(text).not.toContain('secret')
    }
  })

  it('lists sandboxes that were started later than a time', async () => {
    const key = await api.newKey({})
    const first = await create(key)
    api.skew += 5_000
    const second = await create(key)
    const list = async (startedAfter: number): Promise<readonly string[]> => {
      const query = new URLSearchParams({ startedAfter: new Date(startedAfter).toISOString() })
      return ((await (await control('GET', `/v2/sandboxes?${query.toString()}`, key)).json()) as Opened[]).map(({ sandboxID }) => sandboxID)
    }
    expect(await list(api.now() - 2_000)).toEqual([second.sandboxID])
    expect(await list(api.now() - 60_000)).toEqual([second.sandboxID, first.sandboxID])
  })
})

describe('the data plane', () => {
  it('opens with the token of the sandbox only', async () => {
    const mine = await create(api.owner)
    const other = await create(api.owner)
    const foreign = await create(api.otherTenant)
    expect((await contexts(mine.sandboxID, mine.trafficAccessToken)).status).toBe(200)
    for (const [id, token] of [
      [mine.sandboxID, other.trafficAccessToken],
      [mine.sandboxID, foreign.trafficAccessToken],
      [foreign.sandboxID, mine.trafficAccessToken],
      [mine.sandboxID, ''],
    ] as const) {
      const answer = await contexts(id, token)
      expect([answer.status, await answer.json()]).toMatchObject([401, { code: 401 }])
    }
    for (const id of [
      '0'.repeat(52),
      '',
      // The container of one tenant under the id of the other.
      mine.sandboxID.slice(0, 26) + foreign.sandboxID.slice(26),
    ])
      expect((await contexts(id, mine.trafficAccessToken)).status, id).toBe(502)
    const byKey = { headers: { 'e2b-sandbox-id': mine.sandboxID, 'x-api-key': api.owner.key, authorization: `Bearer ${api.owner.key}` } }
    expect((await fetch(`${api.url}/e2b/contexts`, byKey)).status).toBe(401)
  })

  it('answers a wrong token the same, whatever the sandbox does', async () => {
    const mine = await create(api.owner)
    const foreign = [
      await create(api.otherTenant),
      await create(api.otherTenant, { timeout: 10 }),
      await create(api.otherTenant, { timeout: 10, autoPause: true }),
      await create(api.otherTenant, { timeout: 10, autoPause: true, autoResume: { enabled: true } }),
    ]
    api.skew += 11_000
    const answers = await Promise.all(
      foreign.flatMap(({ sandboxID }) =>
        ['contexts', 'health', 'files?path=a'].map(async (path) => {
          const headers = { 'e2b-sandbox-id': sandboxID, 'x-access-token': mine.envdAccessToken }
          const answer = await fetch(`${api.url}/e2b/${path}`, { headers })
          return `${answer.status} ${await answer.text()}`
        }),
      ),
    )
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(/^401 /)
  })

  it('grants the scopes of the key that opened the sandbox, and refuses access once that key is revoked', async () => {
    const key = await api.newKey({ scopes: ['run', 'read'] })
    const { sandboxID, envdAccessToken } = await create(key)
    const headers = { 'e2b-sandbox-id': sandboxID, 'x-access-token': envdAccessToken }
    expect((await fetch(`${api.url}/e2b/contexts`, { headers })).status).toBe(200)
    await api.table.tenants.putKey({ ...apiKeyRow(key.key, { tenant: key.tenant }, 1), id: key.keyId, revokedAt: 2 })
    expect((await fetch(`${api.url}/e2b/contexts`, { headers })).status).toBe(401)
  })

  it('is accessible to the end user of its key only', async () => {
    const ann = await api.newKey({ tenant: api.owner.tenant, subject: 'ann' })
    const bob = await api.newKey({ tenant: api.owner.tenant, subject: 'bob' })
    const { sandboxID } = await create(ann)
    expect((await control('POST', `/v2/sandboxes/${sandboxID}/connect`, bob, {})).status).toBe(404)
    expect(await (await control('GET', '/v2/sandboxes', bob)).json()).toEqual([])
    expect((await control('POST', `/v2/sandboxes/${sandboxID}/connect`, ann, {})).status).toBe(200)
  })

  it('keeps created contexts, and says which language or context it does not have', async () => {
    const { sandboxID, envdAccessToken } = await create(api.owner)
    const call = (method: string, path: string, body?: unknown) =>
      fetch(`${api.url}/e2b${path}`, {
        method,
        headers: { 'e2b-sandbox-id': sandboxID, 'x-access-token': envdAccessToken, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    const created = (await (await call('POST', '/contexts', { language: 'js', cwd: 'deep' })).json()) as { id: string }
    expect(created).toMatchObject({ language: 'javascript', cwd: '/home/user/deep' })
    expect(await (await call('GET', '/contexts')).json()).toMatchObject([
      { id: 'python', cwd: '/home/user' },
      { id: 'javascript' },
      created,
    ])
    expect((await call('DELETE', '/contexts/python')).status).toBe(409)
    expect((await call('POST', '/contexts', { language: 'cobol' })).status).toBe(400)
    expect((await call('POST', '/execute', { code: '1', context_id: 'x' })).status).toBe(404)
    expect((await call('DELETE', `/contexts/${created.id}`)).status).toBe(204)
    expect((await call('DELETE', `/contexts/${created.id}`)).status).toBe(404)
  })
})

describe('the Connect protocol', () => {
  it('lists no watcher as a process, and ends it when its reader leaves', async () => {
    const { sandboxID, envdAccessToken } = await create(api.owner)
    const headers = { 'e2b-sandbox-id': sandboxID, 'x-access-token': envdAccessToken }
    const message = Buffer.from('{"path":"/home/user"}')
    const size = Buffer.alloc(5)
    size.writeUInt32BE(message.length, 1)
    const reader = new AbortController()
    const watching = await fetch(`${api.url}/e2b/filesystem.Filesystem/WatchDir`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/connect+json' },
      body: Buffer.concat([size, message]),
      signal: reader.signal,
    })
    expect(watching.status).toBe(200)
    const row = await api.table.containers.get(api.owner.tenant, `cntr_${sandboxID.slice(0, 26)}`)
    const id = row?.backgroundCommands?.[0] ?? ''
    expect((await api.table.executions.get(api.owner.tenant, id))?.status).toBe('queued')
    const listed = await fetch(`${api.url}/e2b/process.Process/List`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(await listed.json()).toEqual({ processes: [] })
    reader.abort()
    await expect.poll(async () => (await api.table.executions.get(api.owner.tenant, id))?.status).toBe('cancelled')
  })

  it('answers errors in the form of Connect, for unary and for streaming calls', async () => {
    const { sandboxID, envdAccessToken } = await create(api.owner)
    const rpc = async (path: string, type: string, body: BodyInit, token = envdAccessToken) => {
      const headers = { 'e2b-sandbox-id': sandboxID, 'x-access-token': token, 'content-type': type }
      const answer = await fetch(`${api.url}/e2b/process.Process/${path}`, { method: 'POST', headers, body })
      return [answer.status, Buffer.from(await answer.arrayBuffer()).toString()]
    }
    const frame = (text: string, flags = 0): Uint8Array<ArrayBuffer> => {
      const bytes = new Uint8Array(5 + text.length)
      bytes.set([flags, 0, 0, 0, text.length])
      bytes.set(Buffer.from(text), 5)
      return bytes
    }
    const stream = 'application/connect+json'
    expect(await rpc('List', 'application/json', '{}')).toEqual([200, '{"processes":[]}'])
    expect(await rpc('List', 'application/json', '{}', 'x')).toMatchObject([401, expect.stringContaining('"unauthenticated"')])
    expect(await rpc('List', 'text/plain', '{}')).toMatchObject([415, expect.stringContaining('application/json')])
    expect(await rpc('List', 'application/proto', '{}')).toMatchObject([400, expect.stringContaining('"invalid_argument"')])
    const unknown = JSON.stringify({ process: { pid: 5 }, signal: 'SIGNAL_SIGKILL' })
    expect(await rpc('SendSignal', 'application/json', unknown)).toMatchObject([404, expect.stringContaining('"not_found"')])
    expect(await rpc('Connect', stream, frame('{"process":{"pid":5}}'))).toMatchObject([200, expect.stringContaining('"not_found"')])
    expect(await rpc('Start', stream, frame('{}'))).toMatchObject([200, expect.stringContaining('"invalid_argument"')])
    for (const malformed of [frame('{').subarray(0, 3), frame('{'), frame('{}', 1), new Uint8Array(9).fill(255)])
      expect(await rpc('Start', stream, malformed)).toMatchObject([200, expect.stringContaining('"invalid_argument"')])
    expect(await rpc('Start', stream, frame('{}'), 'x')).toMatchObject([401, expect.stringContaining('"unauthenticated"')])
  })
})

it('opens a container of another wire, which remains when the sandbox times out', async () => {
  const container = await api.openai(api.owner).containers.create({ name: 'mine' })
  const id = container.id.slice('cntr_'.length) + api.owner.tenant.slice('tnt_'.length)
  const opened = (await (await control('POST', `/v2/sandboxes/${id}/connect`, api.owner, { timeout: 1 })).json()) as Opened
  expect((await contexts(opened.sandboxID, opened.envdAccessToken)).status).toBe(200)
  api.skew += 5_000
  expect((await contexts(opened.sandboxID, opened.envdAccessToken)).status).toBe(200)
})

it.for(['\ud800', 'a\0b', '%', '%zz', '../..', '\u202e', 'x'.repeat(70_000)])('does not fail for text such as %j', async (text) => {
  const { sandboxID, envdAccessToken } = await create(api.owner)
  const statuses: number[] = []
  const post = async (path: string, body: unknown): Promise<void> => {
    const headers = { 'e2b-sandbox-id': sandboxID, 'x-access-token': envdAccessToken, 'content-type': 'application/json' }
    statuses.push((await fetch(`${api.url}/e2b${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status)
  }
  const created = control('POST', '/v2/sandboxes', api.owner, { metadata: { [text]: text }, envVars: { [text]: text } })
  statuses.push((await created).status)
  statuses.push((await control('POST', '/v2/sandboxes', api.owner, { templateID: text })).status)
  const query = encodeURIComponent(text.toWellFormed().slice(0, 2_000))
  for (const name of ['state', 'template', 'metadata', 'limit', 'nextToken', 'order'])
    statuses.push((await control('GET', `/v2/sandboxes?${name}=${query}`, api.owner)).status)
  statuses.push((await control('GET', `/sandboxes/${query}`, api.owner)).status)
  statuses.push((await fetch(`${api.url}/e2b/files?path=${query}&signature=${query}`, { headers: { 'e2b-sandbox-id': sandboxID } })).status)
  await post('/contexts', { language: text })
  await post('/contexts', { cwd: text })
  await post('/execute', { code: '1', context_id: text })
  await post('/execute', { code: '1', language: text })
  await post('/process.Process/SendSignal', { process: { tag: text }, signal: text })
  await post('/filesystem.Filesystem/GetWatcherEvents', { watcherId: text })
  expect(statuses.filter((status) => status >= 500)).toEqual([])
})

describe('host names', () => {
  /** A request by a host name, which `fetch` does not let a caller choose. */
  const byHost = (host: string, path: string, options: RequestOptions = {}, body?: string): Promise<readonly [number, string]> =>
    new Promise((resolve, reject) => {
      const sent = request(`${api.url}${path}`, { ...options, headers: { ...options.headers, host } }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => resolve([answer.statusCode ?? 0, Buffer.concat(chunks).toString()]))
      })
      sent.on('error', reject)
      sent.end(body)
    })

  it('lead to both planes, and no other name of the domain does', async () => {
    const key = { 'x-api-key': api.owner.key, 'content-type': 'application/json' }
    const [status, text] = await byHost('api.e2b.test', '/v2/sandboxes', { method: 'POST', headers: key }, '{}')
    const opened = JSON.parse(text) as Opened & { readonly domain: string }
    expect([status, opened.domain]).toEqual([201, 'e2b.test'])
    const token = { 'e2b-traffic-access-token': opened.trafficAccessToken }
    expect((await byHost(`49999-${opened.sandboxID}.e2b.test:443`, '/contexts', { headers: token }))[0]).toBe(200)
    expect((await byHost(`49999-${'0'.repeat(52)}.e2b.test`, '/contexts', { headers: token }))[0]).toBe(502)
    for (const host of ['e2b.test', 'www.e2b.test', 'api.x.e2b.test', `api.e2b.test.example`, 'api-e2b.test'])
      expect((await byHost(host, '/v2/sandboxes', { headers: key }))[0], host).toBe(421)
  })

  it('open files by signed URLs: for one path, operation and time', async () => {
    const { sandboxID, envdAccessToken } = await create(api.owner)
    const host = `49983-${sandboxID}.e2b.test`
    const sign = (path: string, operation: string, expires?: number, secret = envdAccessToken): string => {
      const text = [path, operation, '', secret, ...(expires === undefined ? [] : [expires])].join(':')
      const signature = `v1_${createHash('sha256').update(text).digest('base64').replace(/=+$/, '')}`
      const query = { path, username: '', signature, ...(expires !== undefined && { signature_expiration: String(expires) }) }
      return `/files?${new URLSearchParams(query).toString()}`
    }
    const put = { method: 'POST', headers: { 'content-type': 'application/octet-stream' } }
    expect((await byHost(host, sign('a.txt', 'write'), put, 'signed'))[0]).toBe(200)
    expect(await byHost(host, sign('a.txt', 'read'))).toEqual([200, 'signed'])
    const later = Math.floor(api.now() / 1000) + 60
    expect((await byHost(host, sign('a.txt', 'read', later)))[0]).toBe(200)
    for (const path of [
      sign('a.txt', 'write'),
      sign('a.txt', 'read', later - 120),
      sign('a.txt', 'read', later).replace(String(later), String(later + 1)),
      sign('a.txt', 'read').replace('a.txt', 'b.txt'),
      sign('a.txt', 'read', undefined, 'x'),
      sign('a.txt', 'read').replace('/files', '/contexts'),
      '/files?path=a.txt',
    ])
      expect((await byHost(host, path))[0], path).toBe(401)
  })
})
