import { changeByCompareAndSet } from '../../../model/change-by-compare-and-set.ts'
import type { Conversation } from '../../../model/conversations/conversation.ts'
import { LIMITS } from '../../../model/limits.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { ConversationStore } from '../../../ports/conversation-store.ts'
import { absent, all, append, equals, exists, lacks, remove, set, shorterThan, type Action } from './expression.ts'
import { createConversationItems } from './conversation-items.ts'
import type { Items } from './items.ts'
import { dueShard, listPartition, listSortKey, rowKey } from './keys.ts'
import { listPage, placeOf } from './list-page.ts'
import type { Item } from './row-codec.ts'
import { conversationCodec } from './row-shapes.ts'

const isThere = exists('pk')
const isLive = all(isThere, absent('deletedAt'))
const keyOf = (tenant: string, id: string) => rowKey(tenant, 'conversation', id)
const listOf = (tenant: string): string => listPartition(tenant, 'conversations')
/** Places the row at the top of the list. */
const activeAt = (tenant: string, id: string, now: number): readonly Action[] => [
  set('activeAt', now),
  set('lpk', listOf(tenant)),
  set('lsk', listSortKey(now, id)),
]
const decode = (item: Item | null): Conversation | null => (item === null ? null : conversationCodec.decode(item))

const reader =
  (items: Items) =>
  async (tenant: string, id: string): Promise<Conversation | null> =>
    decode(await items.get(keyOf(tenant, id)))

export function createConversationStore(items: Items, objects: ObjectStore): ConversationStore {
  const get = reader(items)

  return {
    ...createConversationItems(items, objects),
    ...queueVerbs(items),
    ...shareVerbs(items),

    async create(conversation) {
      const key = keyOf(conversation.tenant, conversation.id)
      const lsk = listSortKey(conversation.activeAt ?? conversation.createdAt, conversation.id)
      const index = { lpk: listOf(conversation.tenant), lsk, dueShard: dueShard(key.pk) }
      await items.put({ ...conversationCodec.encode(conversation), ...key, ...index }, absent('pk'))
    },

    get,

    async list(tenant, page) {
      const row = page.after === null ? null : await get(tenant, page.after)
      const place = row === null ? null : { id: row.id, createdAt: row.activeAt ?? row.createdAt }
      const after = page.after === null ? null : placeOf('conversation', page.after, place)
      if (page.after !== null && after === null) return { rows: [], hasMore: false }
      return listPage(items, conversationCodec, { partition: listOf(tenant), after, page })
    },

    async update(tenant, id, { change, now }) {
      const actions = [...conversationCodec.patch(change), ...activeAt(tenant, id, now)]
      return decode(await items.update(keyOf(tenant, id), actions, { condition: isLive }))
    },

    async markDeleted(tenant, id, { now, dueAt }) {
      const marked = await items.update(keyOf(tenant, id), [set('deletedAt', now), set('dueAt', dueAt), remove('lpk'), remove('lsk')], {
        condition: isLive,
      })
      return marked === null ? get(tenant, id) : decode(marked)
    },

    remove: async (tenant, id) => void (await items.delete(keyOf(tenant, id))),
  }
}

function queueVerbs(items: Items): Pick<ConversationStore, 'enqueue' | 'dequeue'> {
  const get = reader(items)
  return {
    async enqueue(tenant, id, { responseId, now }) {
      const mayWait = all(isLive, lacks('queue', responseId), shorterThan('queue', LIMITS.maxQueuedPerConversation))
      const actions = [append('queue', responseId), ...activeAt(tenant, id, now)]
      return changeByCompareAndSet(
        async () => {
          const row = decode(await items.update(keyOf(tenant, id), actions, { condition: mayWait }))
          if (row !== null) return row
          const found = await get(tenant, id)
          if (found === null || found.deletedAt !== null) return 'missing'
          if (found.queue.includes(responseId)) return found
          return found.queue.length >= LIMITS.maxQueuedPerConversation ? 'full' : undefined
        },
        () => new Error(`The queue of the conversation ${id} changed during every attempt to join it.`),
      )
    },

    async dequeue(tenant, id, { responseId, containerId, isUnfinished = false }) {
      const isHead = equals('queue[0]', responseId)
      const isFull = exists(`unfinished[${LIMITS.maxUnfinishedPerConversation - 1}]`)
      if (isUnfinished) {
        // One update cannot make a list or drop its oldest, and append to it.
        await items.update(keyOf(tenant, id), [set('unfinished', [])], { condition: all(isHead, absent('unfinished')) })
        await items.update(keyOf(tenant, id), [remove('unfinished[0]')], { condition: all(isHead, isFull) })
      }
      const actions = [
        remove('queue[0]'),
        ...(containerId === null ? [] : [set('containerId', containerId)]),
        ...(isUnfinished ? [append('unfinished', responseId)] : []),
      ]
      return decode(await items.update(keyOf(tenant, id), actions, { condition: isHead }))
    },
  }
}

/** Each is one conditional write at a place in the list that was read before. */
function shareVerbs(items: Items): Pick<ConversationStore, 'addShare' | 'removeShare'> {
  const get = reader(items)
  const exhausted = (id: string) => (): Error =>
    new Error(`The shares of the conversation ${id} changed during every attempt to change them.`)
  const removeAt = (row: Conversation, at: number): Promise<Item | null> =>
    items.update(keyOf(row.tenant, row.id), [remove(`shares[${at}]`)], { condition: equals(`shares[${at}].id`, row.shares?.[at]?.id) })
  return {
    addShare: (tenant, id, { share, now }) =>
      changeByCompareAndSet(async () => {
        const row = await get(tenant, id)
        if (row === null || row.deletedAt !== null) return 'missing'
        const { shares } = row
        if (shares === undefined) {
          return (
            decode(await items.update(keyOf(tenant, id), [set('shares', [share])], { condition: all(isLive, absent('shares')) })) ??
            undefined
          )
        }
        if (shares.length >= LIMITS.maxSharesPerConversation) {
          const expired = shares.findIndex(({ expiresAt }) => expiresAt <= now)
          if (expired === -1) return 'full'
          await removeAt(row, expired)
          return undefined
        }
        const mayAppend = all(isLive, shorterThan('shares', LIMITS.maxSharesPerConversation))
        return decode(await items.update(keyOf(tenant, id), [append('shares', share)], { condition: mayAppend })) ?? undefined
      }, exhausted(id)),

    removeShare: (tenant, id, shareId) =>
      changeByCompareAndSet(async () => {
        const row = await get(tenant, id)
        const at = row?.shares?.findIndex((share) => share.id === shareId) ?? -1
        if (row === null || at === -1) return null
        return decode(await removeAt(row, at)) ?? undefined
      }, exhausted(id)),
  }
}
