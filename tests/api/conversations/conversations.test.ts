import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweepConversation } from '../../../services/workers/reconcile/sweep-expired.ts'
import { systemClock } from '../../../services/ports/clock.ts'
import { createLimitReader } from '../../../services/operations/tenancy/limit-reader.ts'
import { startApi, type TestApi } from '../../support/start-api.ts'

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const user = (content: string) => ({ role: 'user' as const, content })

describe('conversations', () => {
  it('are created without a body, or with items and metadata', async () => {
    const client = api.openai()
    expect(await client.conversations.create()).toMatchObject({ object: 'conversation', id: expect.stringMatching(/^conv_/), metadata: {} })
    const made = await client.conversations.create({ items: [user('one')], metadata: { a: 'b' } })
    expect(await client.conversations.retrieve(made.id)).toEqual(made)
    const updated = await client.conversations.update(made.id, { metadata: { c: 'd' } })
    // It may be a second later.
    const cellblock = { ...('x_cellblock' in made && Object(made.x_cellblock)), updated_at: expect.any(Number) }
    expect(updated).toEqual({ ...made, metadata: { c: 'd' }, x_cellblock: cellblock })
    const { data } = await client.conversations.items.list(made.id)
    expect(data).toMatchObject([{ type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'one' }] }])
  })

  it('add, list, return and delete items', async () => {
    const client = api.openai()
    const { id } = await client.conversations.create()
    const first = await client.conversations.items.create(id, { items: [user('one'), user('two')] })
    await client.conversations.items.create(id, {
      items: [
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'done' },
        { role: 'assistant', content: 'three' },
      ],
    })
    const all = async (order: 'asc' | 'desc'): Promise<readonly string[]> => {
      const ids: string[] = []
      for await (const item of client.conversations.items.list(id, { order, limit: 2 })) ids.push(item.id ?? '')
      return ids
    }
    const ids = await all('asc')
    expect(ids).toHaveLength(5)
    expect(new Set(ids).size).toBe(5)
    expect(ids.slice(0, 2)).toEqual(first.data.map((item) => item.id))
    expect(await all('desc')).toEqual(ids.toReversed())
    expect(await client.conversations.items.retrieve(ids[2] ?? '', { conversation_id: id })).toMatchObject({
      type: 'function_call',
      name: 'f',
    })
    expect((await client.conversations.items.delete(ids[0] ?? '', { conversation_id: id })).id).toBe(id)
    await expect(client.conversations.items.retrieve(ids[0] ?? '', { conversation_id: id })).rejects.toMatchObject({
      status: 404,
      code: 'item_not_found',
    })
    expect(await all('asc')).toEqual(ids.slice(1))
    expect((await client.conversations.items.list(id, { after: 'msg_none' })).data).toEqual([])
  })

  it('are deleted with their items', async () => {
    const client = api.openai()
    const { id } = await client.conversations.create({ items: [user('x'.repeat(200_000))] })
    expect(await client.conversations.delete(id)).toEqual({ id, object: 'conversation.deleted', deleted: true })
    await expect(client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'conversation_not_found' })
    const { tenant } = api.owner
    expect((await api.table.conversations.items(tenant, id, { after: null, limit: 1, order: 'asc' })).rows).toEqual([])
    const [due] = (await api.table.due(Date.now() + 86_400_000, 100)).filter((row) => row.id === id)
    if (due === undefined) throw new Error('not due')
    await sweepConversation({ ...api, clock: systemClock, limits: createLimitReader(api.table.tenants, systemClock) }, due)
    expect(await api.table.conversations.get(tenant, id)).toBeNull()
  })

  it('are accepted by a response as a string or an object and returned in it', async () => {
    const client = api.openai()
    const { id } = await client.conversations.create()
    for (const conversation of [id, { id }]) {
      const response = await client.responses.create({ model: 'demo', input: 'x', background: true, conversation })
      expect(response.conversation).toEqual({ id })
      expect((await api.table.responses.get(api.owner.tenant, response.id))?.conversationId).toBe(id)
    }
    expect((await api.table.conversations.get(api.owner.tenant, id))?.queue).toHaveLength(2)
  })

  it.for([
    ['no items', { items: [] }, 'items'],
    ['more than 20 items', { items: Array.from({ length: 21 }, () => user('x')) }, 'items'],
    ['an item that says nothing', { items: [{}] }, 'items[0]'],
  ] as const)('return 400 for %s', async ([, body, param]) => {
    const { id } = await api.openai().conversations.create()
    const answer = await api.post(`/v1/conversations/${id}/items`, body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request', param } })
  })
})
