import { describe, expect, it } from 'vitest'
import { itemPosition, type Conversation, type ConversationItem } from '../../../services/model/conversations/conversation.ts'
import { newId } from '../../../services/model/ids.ts'
import type { Table } from '../../../services/ports/table.ts'
import { LIMITS } from '../../../services/model/limits.ts'
import { conversationRow, T0 } from '../../support/rows.ts'

const itemOf = (of: Conversation, at: number, change: Partial<ConversationItem> = {}): ConversationItem => {
  const id = newId('message')
  return {
    v: 1,
    tenant: of.tenant,
    conversationId: of.id,
    id,
    position: itemPosition(T0 + at, id, 0),
    responseId: null,
    content: { kind: 'wire', item: { id, type: 'message', role: 'user', content: `${at}` } },
    ...change,
  }
}

export function conversationStoreContract(table: () => Table): void {
  const store = () => table().conversations
  const created = async (change: Partial<Conversation> = {}): Promise<Conversation> => {
    const row = conversationRow(change)
    await store().create(row)
    return row
  }

  describe('conversations', () => {
    it('are returned as written to their tenant only, and accept new metadata', async () => {
      const row = await created({ subject: 'ann', metadata: { a: 'b' }, containerId: 'cntr_1' })
      expect(await store().get(row.tenant, row.id)).toEqual(row)
      expect(await store().get(newId('tenant'), row.id)).toBeNull()
      expect(await store().setMetadata(row.tenant, row.id, { c: 'd' })).toEqual({ ...row, metadata: { c: 'd' } })
      expect(await store().setMetadata(row.tenant, newId('conversation'), {})).toBeNull()
    })

    it('queue responses in order with one head', async () => {
      const { tenant, id } = await created()
      await store().enqueue(tenant, id, 'resp_1')
      await store().enqueue(tenant, id, 'resp_2')
      expect(await store().enqueue(tenant, id, 'resp_1')).toMatchObject({ queue: ['resp_1', 'resp_2'] })
      expect(await store().dequeue(tenant, id, { responseId: 'resp_2', containerId: 'cntr_2' })).toBeNull()
      expect(await store().dequeue(tenant, id, { responseId: 'resp_1', containerId: 'cntr_1' })).toMatchObject({
        queue: ['resp_2'],
        containerId: 'cntr_1',
      })
      expect(await store().dequeue(tenant, id, { responseId: 'resp_2', containerId: null })).toMatchObject({
        queue: [],
        containerId: 'cntr_1',
      })
    })

    it('refuse items beyond the limit, and are missing once deleted', async () => {
      const queue = Array.from({ length: LIMITS.maxQueuedPerConversation }, (_, index) => `resp_${index}`)
      const { tenant, id } = await created({ queue })
      expect(await store().enqueue(tenant, id, 'resp_new')).toBe('full')
      expect(await store().markDeleted(tenant, id, { now: T0 + 1, dueAt: 3_000_000 })).toMatchObject({ deletedAt: T0 + 1 })
      expect(await store().markDeleted(tenant, id, { now: T0 + 2, dueAt: 4_000_000 })).toMatchObject({
        deletedAt: T0 + 1,
        dueAt: 3_000_000,
      })
      expect(await store().enqueue(tenant, id, 'resp_new')).toBe('missing')
      expect(await store().setMetadata(tenant, id, {})).toBeNull()
      const due = (await table().due(3_000_000, 100)).filter((row) => row.kind === 'conversation')
      expect(due).toEqual([{ kind: 'conversation', tenant, id, dueAt: 3_000_000 }])
      await store().remove(tenant, id)
      expect(await store().get(tenant, id)).toBeNull()
    })

    it('list their items in pages and both orders, and store a repeated item once', async () => {
      const row = await created()
      const items = Array.from({ length: 7 }, (_, index) => itemOf(row, index))
      await store().putItems(items.toReversed())
      await store().putItems(items.slice(0, 2))
      for (const order of ['asc', 'desc'] as const) {
        const wanted = order === 'asc' ? items : items.toReversed()
        const first = await store().items(row.tenant, row.id, { after: null, limit: 3, order })
        expect(first).toEqual({ rows: wanted.slice(0, 3), hasMore: true })
        const after = first.rows.at(-1)?.position ?? null
        expect(await store().items(row.tenant, row.id, { after, limit: 4, order })).toEqual({ rows: wanted.slice(3), hasMore: false })
      }
      expect(await store().items(newId('tenant'), row.id, { after: null, limit: 3, order: 'asc' })).toEqual({ rows: [], hasMore: false })
    })

    it('find an item by id, also a large one, until it is removed', async () => {
      const row = await created()
      const large = itemOf(row, 1, { responseId: 'resp_1' })
      const item = { ...large, content: { kind: 'wire' as const, item: { id: large.id, text: 'x'.repeat(300_000) } } }
      await store().putItems([item, itemOf(row, 2)])
      expect(await store().findItem(row.tenant, row.id, item.id)).toEqual(item)
      expect(await store().findItem(row.tenant, row.id, '../../etc')).toBeNull()
      expect(await store().findItem(row.tenant, newId('conversation'), item.id)).toBeNull()
      await store().removeItem(item)
      expect(await store().findItem(row.tenant, row.id, item.id)).toBeNull()
      await store().removeItems(row.tenant, row.id)
      expect((await store().items(row.tenant, row.id, { after: null, limit: 3, order: 'asc' })).rows).toEqual([])
      expect(await store().get(row.tenant, row.id)).toEqual(row)
    })
  })
}
