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
      const entry = { change: { metadata: { c: 'd' }, title: 'T', archivedAt: T0 }, now: T0 + 5 }
      const changed = { ...row, ...entry.change, activeAt: T0 + 5 }
      expect(await store().update(row.tenant, row.id, entry)).toEqual(changed)
      expect(await store().update(row.tenant, newId('conversation'), entry)).toBeNull()
    })

    it('queue responses in order with one head', async () => {
      const { tenant, id } = await created()
      await store().enqueue(tenant, id, { responseId: 'resp_1', now: T0 + 1 })
      await store().enqueue(tenant, id, { responseId: 'resp_2', now: T0 + 1 })
      expect(await store().enqueue(tenant, id, { responseId: 'resp_1', now: T0 + 1 })).toMatchObject({ queue: ['resp_1', 'resp_2'] })
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

    it('are listed by their last activity, in pages and both orders, without deleted ones', async () => {
      const tenant = newId('tenant')
      const rows = await Promise.all([1, 2, 3, 4].map((at) => created({ tenant, createdAt: T0 + at })))
      const [first, second, third, fourth] = rows.map(({ id }) => id) as [string, string, string, string]
      await store().enqueue(tenant, first, { responseId: 'resp_1', now: T0 + 10 })
      await store().update(tenant, second, { change: { title: 'Second' }, now: T0 + 11 })
      await store().markDeleted(tenant, third, { now: T0 + 12, dueAt: T0 + 13 })
      const ids = async (order: 'asc' | 'desc'): Promise<readonly string[]> => {
        const found: string[] = []
        for (let after: string | null = null; ;) {
          const page = await store().list(tenant, { after, limit: 2, order })
          found.push(...page.rows.map(({ id }) => id))
          after = page.rows.at(-1)?.id ?? null
          if (!page.hasMore || after === null) return found
        }
      }
      await expect.poll(() => ids('desc')).toEqual([second, first, fourth])
      expect(await ids('asc')).toEqual([fourth, first, second])
      expect(await store().list(newId('tenant'), { after: null, limit: 2, order: 'desc' })).toEqual({ rows: [], hasMore: false })
    })

    it('list the latest responses that ended without completion', async () => {
      const { tenant, id } = await created()
      const ids = Array.from({ length: LIMITS.maxUnfinishedPerConversation + 2 }, (_, index) => `resp_${index}`)
      for (const responseId of ids) {
        await store().enqueue(tenant, id, { responseId, now: T0 })
        await store().dequeue(tenant, id, { responseId, containerId: null, isUnfinished: true })
      }
      expect((await store().get(tenant, id))?.unfinished).toEqual(ids.slice(2))
    })

    it('have a bounded list of shares, in which expired ones are replaced', async () => {
      const { tenant, id } = await created()
      const share = (at: number) => ({ id: `share_${at}`, tokenHash: `h${at}`, createdAt: T0, expiresAt: T0 + at })
      const add = (at: number, now = T0) => store().addShare(tenant, id, { share: share(at), now })
      const all = Array.from({ length: LIMITS.maxSharesPerConversation }, (_, index) => index + 1)
      await Promise.all(all.map((at) => add(at)))
      expect((await store().get(tenant, id))?.shares?.map((one) => one.id).toSorted()).toEqual(all.map((at) => `share_${at}`).toSorted())
      expect(await add(90)).toBe('full')
      expect(await add(90, T0 + 1)).toMatchObject({ id })
      expect(await store().removeShare(tenant, id, 'share_1')).toBeNull()
      expect((await store().removeShare(tenant, id, 'share_2'))?.shares).toHaveLength(LIMITS.maxSharesPerConversation - 1)
      expect(await store().removeShare(newId('tenant'), id, 'share_3')).toBeNull()
      await store().markDeleted(tenant, id, { now: T0, dueAt: T0 })
      expect(await add(91)).toBe('missing')
    })

    it('refuse items beyond the limit, and are missing once deleted', async () => {
      const queue = Array.from({ length: LIMITS.maxQueuedPerConversation }, (_, index) => `resp_${index}`)
      const { tenant, id } = await created({ queue })
      expect(await store().enqueue(tenant, id, { responseId: 'resp_new', now: T0 + 1 })).toBe('full')
      expect(await store().markDeleted(tenant, id, { now: T0 + 1, dueAt: 3_000_000 })).toMatchObject({ deletedAt: T0 + 1 })
      expect(await store().markDeleted(tenant, id, { now: T0 + 2, dueAt: 4_000_000 })).toMatchObject({
        deletedAt: T0 + 1,
        dueAt: 3_000_000,
      })
      expect(await store().enqueue(tenant, id, { responseId: 'resp_new', now: T0 + 1 })).toBe('missing')
      expect(await store().update(tenant, id, { change: {}, now: T0 })).toBeNull()
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
