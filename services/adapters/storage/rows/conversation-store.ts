import { changeByCompareAndSet } from '../../../model/change-by-compare-and-set.ts'
import type { Conversation } from '../../../model/conversations/conversation.ts'
import { LIMITS } from '../../../model/limits.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { ConversationStore } from '../../../ports/conversation-store.ts'
import { absent, all, append, equals, exists, lacks, remove, set, shorterThan } from './expression.ts'
import { createConversationItems } from './conversation-items.ts'
import type { Items } from './items.ts'
import { dueShard, rowKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { conversationCodec } from './row-shapes.ts'

const isThere = exists('pk')
const isLive = all(isThere, absent('deletedAt'))
const keyOf = (tenant: string, id: string) => rowKey(tenant, 'conversation', id)
const decode = (item: Item | null): Conversation | null => (item === null ? null : conversationCodec.decode(item))

export function createConversationStore(items: Items, objects: ObjectStore): ConversationStore {
  const get = async (tenant: string, id: string): Promise<Conversation | null> => decode(await items.get(keyOf(tenant, id)))

  return {
    ...createConversationItems(items, objects),

    async create(conversation) {
      const key = keyOf(conversation.tenant, conversation.id)
      await items.put({ ...conversationCodec.encode(conversation), ...key, dueShard: dueShard(key.pk) }, absent('pk'))
    },

    get,

    async setMetadata(tenant, id, metadata) {
      return decode(await items.update(keyOf(tenant, id), conversationCodec.patch({ metadata }), { condition: isLive }))
    },

    async enqueue(tenant, id, responseId) {
      const mayWait = all(isLive, lacks('queue', responseId), shorterThan('queue', LIMITS.maxQueuedPerConversation))
      return changeByCompareAndSet(
        async () => {
          const row = decode(await items.update(keyOf(tenant, id), [append('queue', responseId)], { condition: mayWait }))
          if (row !== null) return row
          const found = await get(tenant, id)
          if (found === null || found.deletedAt !== null) return 'missing'
          if (found.queue.includes(responseId)) return found
          return found.queue.length >= LIMITS.maxQueuedPerConversation ? 'full' : undefined
        },
        () => new Error(`The queue of the conversation ${id} changed during every attempt to join it.`),
      )
    },

    async dequeue(tenant, id, { responseId, containerId }) {
      const actions = [remove('queue[0]'), ...(containerId === null ? [] : [set('containerId', containerId)])]
      return decode(await items.update(keyOf(tenant, id), actions, { condition: equals('queue[0]', responseId) }))
    },

    async markDeleted(tenant, id, { now, dueAt }) {
      const marked = await items.update(keyOf(tenant, id), [set('deletedAt', now), set('dueAt', dueAt)], { condition: isLive })
      return marked === null ? get(tenant, id) : decode(marked)
    },

    remove: (tenant, id) => items.delete(keyOf(tenant, id)),
  }
}
