import type { ConversationItem } from '../../../model/conversations/conversation.ts'
import { newObjectKey, objectPrefix } from '../../../model/object-keys.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { ConversationStore } from '../../../ports/conversation-store.ts'
import { readJson } from '../../../ports/read-json.ts'
import { all, between, equals, startsWith } from './expression.ts'
import type { Items } from './items.ts'
import { ITEM_PREFIX, itemKey, listPartition, rowKey } from './keys.ts'
import { removalOf } from './meter-items.ts'
import type { Item } from './row-codec.ts'

/** Content with longer JSON is stored as an object, bytes. */
const MAX_INLINE_BYTES = 64 * 1024
/** The index may lack up to this many of the newest items. */
const MAX_INDEX_LAG = 200
/** Sorts after every item. */
const LAST = `${ITEM_PREFIX}~`
const byId = (tenant: string, conversationId: string, id: string): string =>
  listPartition(tenant, 'conversation-items', `${conversationId}.${id}`)

const inPartition = (tenant: string, conversationId: string) => equals('pk', rowKey(tenant, 'conversation', conversationId).pk)

/** Items are in their conversation's partition in order, so that a turn's history is one consistent query. */
export const createConversationItems = (
  items: Items,
  objects: ObjectStore,
): Pick<ConversationStore, 'putItems' | 'items' | 'findItem' | 'removeItem' | 'removeItems'> => ({
  ...writes(items, objects),
  ...reads(items, objects),
})

function writes(items: Items, objects: ObjectStore): Pick<ConversationStore, 'putItems' | 'removeItem' | 'removeItems'> {
  return {
    async putItems(wanted) {
      for (const { content, responseId, ...row } of wanted) {
        const text = JSON.stringify(content)
        const isInline = Buffer.byteLength(text) <= MAX_INLINE_BYTES
        const objectKey = isInline ? null : newObjectKey(row.tenant, 'items', row.conversationId)
        if (objectKey !== null) await objects.put(objectKey, Buffer.from(text), { contentType: 'application/json' })
        const key = itemKey(row.tenant, row.conversationId, row.position)
        await items.put({
          ...row,
          ...key,
          lpk: byId(row.tenant, row.conversationId, row.id),
          lsk: key.sk,
          ...(responseId === null ? {} : { responseId }),
          ...(objectKey === null ? { content: text } : { objectKey }),
        })
      }
    },

    async removeItem(item) {
      await items.delete(itemKey(item.tenant, item.conversationId, item.position))
    },

    async removeItems(tenant, conversationId) {
      const where = all(inPartition(tenant, conversationId), startsWith('sk', ITEM_PREFIX))
      let startKey: Item | undefined
      do {
        const page = await items.query({ where, startKey })
        await items.writeMany(page.items.map(removalOf))
        startKey = page.lastKey
      } while (startKey !== undefined)
      await objects.deletePrefix(objectPrefix(tenant, conversationId))
    },
  }
}

function reads(items: Items, objects: ObjectStore): Pick<ConversationStore, 'items' | 'findItem'> {
  const open = (item: Item): Promise<ConversationItem> => openItem(objects, item)
  return {
    async items(tenant, conversationId, { after, limit, order }) {
      const edge = `${ITEM_PREFIX}${after}`
      const range =
        after === null
          ? between('sk', ITEM_PREFIX, LAST)
          : order === 'asc'
            ? between('sk', `${edge} `, LAST)
            : between('sk', ITEM_PREFIX, edge)
      const found: Item[] = []
      let startKey: Item | undefined
      do {
        const page = await items.query({
          where: all(inPartition(tenant, conversationId), range),
          descending: order === 'desc',
          // One more item shows whether there are further ones, and the cursor itself may be in the range.
          limit: limit + 2 - found.length,
          startKey,
        })
        found.push(...page.items.filter((item) => item['sk'] !== edge))
        startKey = page.lastKey
      } while (startKey !== undefined && found.length <= limit)
      return { rows: await Promise.all(found.slice(0, limit).map(open)), hasMore: found.length > limit }
    },

    async findItem(tenant, conversationId, id) {
      const [known] = (await items.query({ index: 'list', where: equals('lpk', byId(tenant, conversationId, id)), limit: 1 })).items
      if (known !== undefined) {
        const item = await items.get({ pk: String(known['pk']), sk: String(known['sk']) })
        return item === null ? null : open(item)
      }
      const where = all(inPartition(tenant, conversationId), startsWith('sk', ITEM_PREFIX))
      const newest = (await items.query({ where, descending: true, limit: MAX_INDEX_LAG })).items.find((item) => item['id'] === id)
      return newest === undefined ? null : open(newest)
    },
  }
}

async function openItem(objects: ObjectStore, item: Item): Promise<ConversationItem> {
  const objectKey = item['objectKey']
  const content = typeof objectKey === 'string' ? await readJson(objects, { objectKey, bytes: 0 }) : JSON.parse(String(item['content']))
  return {
    v: 1,
    tenant: String(item['tenant']),
    conversationId: String(item['conversationId']),
    id: String(item['id']),
    position: String(item['position']),
    responseId: typeof item['responseId'] === 'string' ? item['responseId'] : null,
    content: content as ConversationItem['content'],
  }
}
