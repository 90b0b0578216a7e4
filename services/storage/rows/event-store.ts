import type { AnyEvent, EventBatch, EventOwner } from '../../core/events.ts'
import { newObjectKey } from '../../core/object-keys.ts'
import type { ObjectStore } from '../../core/ports/object-store.ts'
import type { EventStore } from '../../core/ports/event-store.ts'
import { readBytes } from '../../core/read-bytes.ts'
import { absent, all, between, equals, startsWith, type Condition } from './expression.ts'
import type { Items } from './items.ts'
import { EVENT_PREFIX, eventSortKey, rowKey } from './keys.ts'
import { createKnownPositions } from './known-positions.ts'
import type { Item } from './row-codec.ts'

/** A batch whose JSON is longer goes to the object store, bytes. */
const MAX_INLINE_BYTES = 16 * 1024
/** Sorts after every batch. */
const LAST = `${EVENT_PREFIX}~`
const lastSeqOf = (batch: EventBatch): number => batch.firstSeq + batch.events.length - 1
const partitionOf = (owner: EventOwner): string => rowKey(owner.tenant, owner.kind, owner.id).pk

/** Batches lie in their owner's partition, in the order of their first number. A batch never changes once it is written. */
export function createEventStore(items: Items, objects: ObjectStore): EventStore {
  const ends = createKnownPositions()

  const open = async (item: Item): Promise<EventBatch> => {
    const objectKey = item['objectKey']
    const text = typeof objectKey === 'string' ? await readText(objects, objectKey) : String(item['events'])
    return {
      firstSeq: Number(item['firstSeq']),
      events: JSON.parse(text) as AnyEvent[],
      fence: Number(item['fence']),
      sourceSeq: item['sourceSeq'] === undefined ? null : Number(item['sourceSeq']),
    }
  }
  /** The newest batch under this condition. */
  const newest = async (where: Condition): Promise<EventBatch | null> => {
    const [item] = (await items.query({ where, descending: true, limit: 1 })).items
    return item === undefined ? null : open(item)
  }

  /** What the batch that begins at or before `after` has beyond it. */
  const restOfBatch = async (pk: string, after: number): Promise<readonly AnyEvent[]> => {
    const batch = await newest(all(equals('pk', pk), between('sk', EVENT_PREFIX, eventSortKey(after))))
    if (batch !== null) ends.add(pk, lastSeqOf(batch))
    return batch === null ? [] : batch.events.filter((event) => event.seq > after)
  }

  return {
    async append(owner, batch) {
      const text = JSON.stringify(batch.events)
      const isInline = Buffer.byteLength(text) <= MAX_INLINE_BYTES
      const objectKey = isInline ? null : newObjectKey(owner.tenant, 'events', owner.id)
      if (objectKey !== null) await objects.put(objectKey, Buffer.from(text), { contentType: 'application/json' })
      const key = { pk: partitionOf(owner), sk: eventSortKey(batch.firstSeq) }
      const body = { fence: batch.fence, ...(objectKey === null ? { events: text } : { objectKey }) }
      const source = batch.sourceSeq === null ? {} : { sourceSeq: batch.sourceSeq }
      const isFirst = await items.put({ ...key, firstSeq: batch.firstSeq, ...source, ...body }, absent('pk'))
      // The client sends a write again when its answer got lost: what is refused then may be this very batch.
      const isMine = isFirst || holds(await items.get(key), body)
      if (isMine) ends.add(partitionOf(owner), lastSeqOf(batch))
      else if (objectKey !== null) await objects.delete(objectKey)
      return isMine
    },

    async read<E extends AnyEvent>(owner: EventOwner, after: number, limit: number): Promise<readonly E[]> {
      const pk = partitionOf(owner)
      const events: AnyEvent[] = []
      let startKey: Item | undefined
      do {
        const where = all(equals('pk', pk), between('sk', eventSortKey(after + 1), LAST))
        const page = await items.query({ where, limit: Math.max(1, limit - events.length), startKey })
        const isAligned = page.items[0]?.['firstSeq'] === after + 1 || after < 0 || ends.has(pk, after)
        if (startKey === undefined && !isAligned) events.push(...(await restOfBatch(pk, after)))
        for (const item of page.items) {
          const batch = await open(item)
          if (events.length > 0 && events.length + batch.events.length > limit) return events as E[]
          events.push(...batch.events)
          ends.add(pk, lastSeqOf(batch))
        }
        startKey = page.lastKey
      } while (startKey !== undefined && events.length < limit)
      return events as E[]
    },

    last: (owner) => newest(all(equals('pk', partitionOf(owner)), startsWith('sk', EVENT_PREFIX))),

    async removeAll(owner) {
      let startKey: Item | undefined
      do {
        const page = await items.query({ where: all(equals('pk', partitionOf(owner)), startsWith('sk', EVENT_PREFIX)), startKey })
        await Promise.all(page.items.map((item) => (typeof item['objectKey'] === 'string' ? objects.delete(item['objectKey']) : undefined)))
        await items.writeMany(page.items.map((item) => ({ delete: { pk: String(item['pk']), sk: String(item['sk']) } })))
        startKey = page.lastKey
      } while (startKey !== undefined)
    },
  }
}

const holds = (item: Item | null, body: Item): boolean =>
  item !== null && Object.entries(body).every(([name, value]) => item[name] === value)

async function readText(objects: ObjectStore, key: string): Promise<string> {
  const found = await objects.get(key)
  if (found === null) throw new Error('A batch of events has lost its object.')
  return (await readBytes(found.body)).toString('utf8')
}
