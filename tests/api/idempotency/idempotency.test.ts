import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROUTES } from '../../../services/wires/routes.ts'
import { inlineSkill, zipOf } from '../../support/skill-files.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
  // A fast machine sends thousands of requests per second here.
  const policy = { limits: { requestsPerSecond: 100_000 } }
  await api.table.tenants.create({ v: 1, id: api.owner.tenant, name: 'fast', createdAt: Date.now(), policy })
})
afterAll(() => api.stop())

type Body = { readonly id: string; readonly error?: { readonly code: string } }
const post = async (path: string, body: unknown, headers: Record<string, string>, key = api.owner) => {
  const answer = await api.post(path, body, { headers, key })
  return { status: answer.status, body: (await answer.json()) as Body, isReplay: answer.headers.get('idempotent-replayed') === 'true' }
}
const newContainer = async (name = 'c', key = api.owner) => (await api.openai(key).containers.create({ name })).id
const executionsIn = async (container: string) =>
  (await api.table.executions.listByContainer(api.owner.tenant, container, { after: null, limit: 100, order: 'asc' })).rows

const CREATIONS: readonly (readonly [operation: string, path: string, body: unknown, other: unknown])[] = [
  ['createResponse', '/v1/responses', { model: 'demo', input: 'x', background: true }, { model: 'demo', input: 'y', background: true }],
  ['createContainer', '/v1/containers', { name: 'x' }, { name: 'y' }],
  ['createConversation', '/v1/conversations', { metadata: { a: '1' } }, { metadata: { a: '2' } }],
  [
    'createUpload',
    '/v1/uploads',
    { filename: 'x', bytes: 1, mime_type: 'text/plain', purpose: 'user_data' },
    { filename: 'y', bytes: 1, mime_type: 'text/plain', purpose: 'user_data' },
  ],
]

it.for(CREATIONS)('%s creates one object per Idempotency-Key and refuses another body', async ([, path, body, other]) => {
  const headers = { 'idempotency-key': 'one' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(path, body, headers)))
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1)
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(await post(path, other, headers)).toMatchObject({ status: 422, body: { error: { code: 'idempotency_key_reused' } } })
  expect((await post(path, body, headers, api.otherTenant)).body.id).not.toBe(answers[0]?.body.id)
})

it('adds items of a conversation once per Idempotency-Key', async () => {
  const { id } = await api.openai().conversations.create({})
  const path = `/v1/conversations/${id}/items`
  const body = { items: ['a', 'b'].map((content) => ({ role: 'user', content })) }
  for (let call = 0; call < 3; call++) expect((await post(path, body, { 'idempotency-key': 'items' })).status).toBe(200)
  const count = async () => ((await (await api.fetch(path)).json()) as { readonly data: readonly unknown[] }).data.length
  expect(await count()).toBe(2)
  await post(path, body, {})
  expect(await count()).toBe(4)
})

/** An API whose object store refuses its n-th write from `arm(n)` on, once. */
async function startFailing() {
  let left = 0
  const failing = await startApi({
    wrapObjects: (objects) => ({
      ...objects,
      put: (...args) => (--left === 0 ? Promise.reject(new Error('The store is not available.')) : objects.put(...args)),
    }),
  })
  return { failing, arm: (nth: number) => void (left = nth) }
}

it('completes a container whose first call failed half-way', async () => {
  const { failing, arm } = await startFailing()
  try {
    const ids = []
    for (const name of ['a.txt', 'b.txt', 'c.txt'])
      ids.push((await failing.openai().files.create({ file: new File([name], name), purpose: 'user_data' })).id)
    const skill = inlineSkill('tidy', zipOf({ 'SKILL.md': '---\nname: tidy\ndescription: Tidies.\n---\nTidy up.' }))
    const headers = { 'idempotency-key': 'half' }
    const body = { name: 'c', file_ids: ids, skills: [skill] }
    // Of the four writes the first is the skill and the third is the second file.
    arm(3)
    expect((await failing.post('/v1/containers', body, { headers })).status).toBe(500)
    const again = await failing.post('/v1/containers', body, { headers })
    expect(again.status).toBe(200)
    const { id } = (await again.json()) as Body
    const files = async () => (await failing.table.files.all(failing.owner.tenant, id)).map(({ path }) => path).toSorted()
    expect(await files()).toEqual(['a.txt', 'b.txt', 'c.txt'])
    const [attached] = (await failing.table.containers.get(failing.owner.tenant, id))?.skills ?? []
    expect(await failing.objects.get(attached?.objectKey ?? '')).not.toBeNull()
    // A third call changes nothing, although a source is gone.
    await failing.openai().files.delete(ids[0] ?? '')
    expect((await failing.post('/v1/containers', body, { headers })).status).toBe(200)
    expect(await files()).toEqual(['a.txt', 'b.txt', 'c.txt'])
  } finally {
    await failing.stop()
  }
})

it('completes a conversation whose first call failed half-way', async () => {
  let failures = 1
  const failing = await startApi({
    wrapTable: ({ conversations, ...table }) => ({
      ...table,
      conversations: {
        ...conversations,
        async putItems(items) {
          if (failures-- <= 0) return conversations.putItems(items)
          await conversations.putItems(items.slice(0, 1))
          throw new Error('The table is not available.')
        },
      },
    }),
  })
  try {
    const body = { items: ['a', 'b'].map((content) => ({ role: 'user', content })) }
    const headers = { 'idempotency-key': 'half' }
    expect((await failing.post('/v1/conversations', body, { headers })).status).toBe(500)
    const again = await failing.post('/v1/conversations', body, { headers })
    expect(again.status).toBe(200)
    const { id } = (await again.json()) as Body
    const { data } = (await (await failing.fetch(`/v1/conversations/${id}/items`)).json()) as { readonly data: readonly unknown[] }
    expect(data).toHaveLength(2)
  } finally {
    await failing.stop()
  }
})

it('stores one file for repeated uploads with one key', async () => {
  const container = await newContainer()
  const upload = async (path: string, text: string) => {
    const form = new FormData()
    form.append('purpose', 'user_data')
    form.append('file', new File([text], 'a.txt'))
    const answer = await api.fetch(path, { method: 'POST', body: form, headers: { 'idempotency-key': 'file-1' } })
    return { status: answer.status, id: ((await answer.json()) as Body).id }
  }
  for (const path of ['/v1/files', `/v1/containers/${container}/files`]) {
    const first = await upload(path, 'same')
    expect(first.status).toBe(200)
    expect(await upload(path, 'same')).toEqual(first)
    expect((await upload(path, 'other')).status).toBe(422)
  }
  expect(await api.table.files.all(api.owner.tenant, container)).toHaveLength(1)
})

it('accepts 200 keys with 20 parallel duplicates each exactly 200 times', async () => {
  const containers = await Promise.all([1, 2, 3, 4].map((n) => newContainer(`d${n}`)))
  for (const [index, container] of containers.entries())
    for (let group = 0; group < 5; group++) {
      const keys = Array.from({ length: 10 }, (_, n) => `dup-${index}-${group}-${n}`)
      const path = `/v1/containers/${container}/executions?wait=0`
      const answers = await Promise.all(
        keys.flatMap((key) => Array.from({ length: 20 }, () => post(path, { code: key }, { 'idempotency-key': key }))),
      )
      expect(answers.every(({ status }) => status === 202)).toBe(true)
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(keys.length)
    }
  const rows = await Promise.all(containers.map((container) => executionsIn(container)))
  expect(rows.flat()).toHaveLength(200)
})

it('attaches a retry without a key to the same call of the last ten minutes', async () => {
  const path = `/v1/containers/${await newContainer()}/executions?wait=0`
  const attempt = (count: number, code = 'x', key = api.owner) => post(path, { code }, { 'x-stainless-retry-count': String(count) }, key)
  const first = await attempt(0)
  expect((await attempt(1)).body.id).toBe(first.body.id)
  expect(await attempt(2)).toMatchObject({ isReplay: true, body: { id: first.body.id } })
  expect((await attempt(1, 'y')).body.id).not.toBe(first.body.id)
  const second = await attempt(0)
  expect(second.body.id).not.toBe(first.body.id)
  expect((await attempt(1)).body.id).toBe(second.body.id)
  const sameTenant = await api.newKey({ tenant: api.owner.tenant })
  expect((await attempt(1, 'x', sameTenant)).body.id).not.toBe(second.body.id)
  api.skew = 10 * 60_000
  expect((await attempt(1)).body.id).not.toBe(second.body.id)
  api.skew = 0
})

it('runs a turn once when the connection of the Node SDK drops', async () => {
  let dropped = 0
  const proxy = createServer((incoming, outgoing) => {
    const target = new URL(api.url)
    const forward = httpRequest(
      {
        host: target.hostname,
        port: target.port,
        path: incoming.url,
        method: incoming.method,
        headers: { ...incoming.headers, host: target.host },
      },
      (answer: IncomingMessage) => {
        // The first answer is lost after the server has accepted the call.
        if (dropped === 0) {
          dropped++
          outgoing.destroy()
          answer.resume()
          return
        }
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      },
    )
    incoming.pipe(forward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: api.owner.key, maxRetries: 2 })
  const before = api.events.length
  const response = await client.responses.create({ model: 'demo', input: 'once only', background: true })
  await new Promise((resolve) => proxy.close(resolve))
  const calls = api.events.slice(before).filter((event) => event['route'] === 'createResponse')
  expect(dropped).toBe(1)
  expect(calls).toHaveLength(2)
  expect(new Set(calls.map((call) => call['response_id']))).toEqual(new Set([response.id]))
})

/** POST routes that change an existing object, whose repetition leaves nothing that a client sees, or whose answer must not be repeated (a key). */
const NOT_CREATING = [
  // The new id follows from the old one, so a repetition accepts nothing.
  'redriveDeadLetter',
  'suspendContainer',
  'resumeContainer',
  // A repetition publishes the same port, with another link.
  'publishContainerPort',
  'updateWebhookEndpoint',
  'rotateWebhookSecret',
  'testWebhookEndpoint',
  'makeFolder',
  'moveEntry',
  'unpackArchive',
  'addUploadPart',
  'completeUpload',
  'createKey',
  'createUploadUrl',
  'mcp',
  'execute',
  'cancelCommand',
  'cancelExecution',
  'mcp',
  'resizeCommand',
  'sendCommandStdin',
  'signalCommand',
  'cancelResponse',
  'cancelUpload',
  'completeContainerFile',
  'completeFileUpload',
  'countInputTokens',
  'updateConversation',
  'updateSkill',
  'updateTenant',
  'revokeKey',
  // The link's token is not stored, so a repeated call could not answer with it. A conversation has ten links at most.
  'createShare',
  // The new export replaces the one before.
  'exportTenant',
  // Their clients send neither an idempotency key nor a retry count.
  'mcp',
  'librechatExec',
  'librechatProgram',
  'librechatCancelProgram',
  'librechatUpload',
  'librechatUploadBatch',
]
it('declares on every POST route whether it creates an object', () => {
  // Clients of a foreign protocol send neither an idempotency key nor a retry count.
  const ours = ROUTES.filter((route) => route.method === 'post' && route.isForeign !== true)
  const undeclared = ours.filter((route) => route.creates === undefined).map((route) => route.operationId)
  expect(undeclared.filter((name) => !NOT_CREATING.includes(name))).toEqual([])
})
