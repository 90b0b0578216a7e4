import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../services/model/limits.ts'
import { finishExecution } from '../../support/finish-execution.ts'
import { startApi, type TestApi, type TestKey } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const DAY_MS = 86_400_000

async function read<T>(answer: Response | Promise<Response>): Promise<T> {
  const { status, ok } = await answer
  const body = await (await answer).json()
  expect(ok, `${status} ${JSON.stringify(body)}`).toBe(true)
  return body as T
}

/** A conversation with a message and code that printed a line. */
async function createChat(key: TestKey): Promise<{ readonly id: string; readonly call: string; readonly execution: string }> {
  const { id } = await read<{ id: string }>(api.post('/v1/conversations', { x_cellblock: { title: 'Costs' } }, { key }))
  const container = await read<{ id: string }>(api.post('/v1/containers', { name: 'c' }, { key }))
  const execution = await read<{ id: string }>(api.post(`/v1/containers/${container.id}/executions?wait=0`, { code: '1' }, { key }))
  await finishExecution(api, key.tenant, execution.id, { result: { stdout: 'shown\n' } })
  const { data } = await addItems(id, key, [{ role: 'user', content: 'Hello' }, codeItem(execution.id)])
  return { id, call: data[1]?.id ?? '', execution: execution.id }
}

const codeItem = (executionId: string) => ({
  type: 'code_interpreter_call',
  code: '1',
  container_id: 'cntr_1',
  status: 'completed',
  outputs: [{ type: 'logs', logs: `see http://localhost/d/${'a'.repeat(43)}` }],
  x_cellblock: { execution_id: executionId, source: 'user' },
})

const addItems = (id: string, key: TestKey, items: readonly unknown[]) =>
  read<{ data: { id: string }[] }>(api.post(`/v1/conversations/${id}/items`, { items }, { key }))

/** Returns the token of a new link. */
async function share(id: string, key: TestKey, body = {}): Promise<{ readonly id: string; readonly token: string }> {
  const made = await read<{ id: string; url: string }>(api.post(`/v1/conversations/${id}/shares`, body, { key }))
  return { id: made.id, token: made.url.split('/s/')[1] ?? '' }
}

const open = (token: string, rest = ''): Promise<Response> => api.fetch(`/v1/shares/${token}${rest}`, { key: null })
const statusOf = async (token: string, rest = ''): Promise<number> => (await open(token, rest)).status

describe('a link to a conversation', () => {
  it('shows messages, code and outputs without a key, and no links to files', async () => {
    const key = await api.newKey()
    const { id, call } = await createChat(key)
    const { token } = await share(id, key)
    expect(await read(open(token))).toMatchObject({ object: 'shared_conversation', title: 'Costs' })
    const items = await (await open(token, '/items?order=asc')).text()
    expect(JSON.parse(items)).toMatchObject({ data: [{ role: 'user' }, { id: call, type: 'code_interpreter_call' }], has_more: false })
    expect(items).toContain(`/d/${'-'.repeat(43)}`)
    const outputs = await read<Record<string, unknown>>(open(token, `/items/${call}/execution`))
    expect(outputs).toMatchObject({ status: 'succeeded', stdout: 'shown\n', files: [] })
    expect(Object.keys(outputs)).not.toContain('container_id')
  })

  it('shows nothing that was added after it was made, and no code beside it', async () => {
    const key = await api.newKey()
    const { id, execution } = await createChat(key)
    const { token } = await share(id, key)
    api.skew += 1_000
    const later = await addItems(id, key, [{ role: 'user', content: 'Private' }, codeItem(execution)])
    const pages = [await open(token, '/items?order=asc'), await open(token, '/items?order=desc')]
    for (const page of pages) expect(await page.text()).not.toContain('Private')
    expect(await statusOf(token, `/items/${later.data[1]?.id}/execution`)).toBe(404)
    expect(await statusOf(token, `/items/${execution}/execution`)).toBe(404)
  })

  it('ends when it is revoked, when it expires and when the conversation is deleted', async () => {
    const key = await api.newKey()
    const { id } = await createChat(key)
    const [revoked, expiring, other] = [await share(id, key), await share(id, key, { expires_in_days: 1 }), await share(id, key)]
    await read(api.fetch(`/v1/conversations/${id}/shares/${revoked.id}`, { method: 'DELETE', key }))
    expect(await statusOf(revoked.token)).toBe(404)
    expect((await api.fetch(`/v1/conversations/${id}/shares/${revoked.id}`, { method: 'DELETE', key })).status).toBe(404)
    expect(await statusOf(expiring.token)).toBe(200)
    api.skew += DAY_MS
    expect(await statusOf(expiring.token)).toBe(404)
    const listed = await read<{ data: { id: string }[] }>(api.fetch(`/v1/conversations/${id}/shares`, { key }))
    expect(listed.data.map((one) => one.id)).toEqual([other.id])
    expect(await statusOf(other.token)).toBe(200)
    await read(api.fetch(`/v1/conversations/${id}`, { method: 'DELETE', key }))
    for (const rest of ['', '/items', '/items/x/execution']) expect(await statusOf(other.token, rest)).toBe(404)
  })

  it('answers alike for every link that opens nothing', async () => {
    const key = await api.newKey()
    const { token } = await share((await createChat(key)).id, key)
    const place = JSON.parse(Buffer.from(token, 'base64url').toString()) as string[]
    const forged = (change: (parts: string[]) => unknown) => Buffer.from(JSON.stringify(change([...place]))).toString('base64url')
    const tokens = [
      'x',
      forged(([tenant, id]) => [tenant, id, 'a'.repeat(43)]),
      forged(([, id, secret]) => [api.otherTenant.tenant, id, secret]),
      forged(([tenant, , secret]) => [tenant, 'conv_missing', secret]),
      forged(() => ({ tenant: 1 })),
      'A'.repeat(2_000),
    ]
    const answers = await Promise.all(
      tokens.map(async (one) => {
        const answer = await open(one)
        return [answer.status, ((await answer.json()) as { error: unknown }).error]
      }),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]?.[0]).toBe(404)
  })

  it('is made, listed and revoked by its own tenant and end user only, with the scopes', async () => {
    const key = await api.newKey({ subject: 'ann' })
    const { id } = await createChat(key)
    const made = await share(id, key)
    const keys = [api.otherTenant, await api.newKey({ tenant: key.tenant, subject: 'bob' })]
    for (const other of keys) {
      expect((await api.post(`/v1/conversations/${id}/shares`, {}, { key: other })).status).toBe(404)
      expect((await api.fetch(`/v1/conversations/${id}/shares`, { key: other })).status).toBe(404)
      expect((await api.fetch(`/v1/conversations/${id}/shares/${made.id}`, { method: 'DELETE', key: other })).status).toBe(404)
    }
    for (const scopes of [['read'], ['share']] as const) {
      const weak = await api.newKey({ tenant: key.tenant, scopes })
      expect((await api.post(`/v1/conversations/${id}/shares`, {}, { key: weak })).status).toBe(403)
    }
    expect(await statusOf(made.token)).toBe(200)
  })

  it('shows no execution of another end user that an item names', async () => {
    const ann = await api.newKey({ subject: 'ann' })
    const bob = await api.newKey({ tenant: ann.tenant, subject: 'bob' })
    const { execution } = await createChat(ann)
    const { id } = await read<{ id: string }>(api.post('/v1/conversations', {}, { key: bob }))
    const { data } = await addItems(id, bob, [codeItem(execution)])
    const { token } = await share(id, bob)
    expect(await statusOf(token, `/items/${data[0]?.id}/execution`)).toBe(404)
  })

  it(`is one of at most ${LIMITS.maxSharesPerConversation}, and is read at most ${LIMITS.maxSharedReadsPerMinute} times a minute`, async () => {
    const key = await api.newKey()
    const { id } = await createChat(key)
    const { token } = await share(id, key)
    for (let count = 1; count < LIMITS.maxSharesPerConversation; count++) await share(id, key)
    const refused = await api.post(`/v1/conversations/${id}/shares`, {}, { key })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('Revoke one')])
    const window = Math.floor(api.now() / 60_000)
    const max = LIMITS.maxSharedReadsPerMinute
    for (let count = 0; count < max; count++) await api.table.sharedRows.count(key.tenant, 'shared-reads', { window, max })
    expect(await statusOf(token)).toBe(429)
    expect((await api.fetch(`/v1/conversations/${id}`, { key })).status).toBe(200)
    expect((await api.post(`/v1/conversations/${id}/shares`, { expires_in_days: 0 }, { key })).status).toBe(400)
  })
})
