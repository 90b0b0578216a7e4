import * as z from 'zod'
import type { AnyEvent, EventBatch, EventOwner } from '../../../model/events.ts'
import { executionEventSchema } from '../../../model/executions/events/event-types.ts'
import { newObjectKey } from '../../../model/object-keys.ts'
import type { ObjectStore } from '../../../ports/object-store.ts'
import type { EventStore, ReadLimit } from '../../../ports/event-store.ts'
import { readBytes } from '../../../model/read-bytes.ts'
import { absent, all, between, equals, startsWith, type Condition } from './expression.ts'
import type { Items } from './items.ts'
import { EVENT_PREFIX, eventSortKey, rowKey } from './keys.ts'
import { removalOf } from './meter-items.ts'
import type { Item } from './row-codec.ts'

/** Larger than the number of logs that a process uses at the same time. */
const MAX_POSITIONS = 20_000

/**
 * Caches numbers at which a batch of a log ends. Batches never change, so a reader that continues from such a number need not search for a batch that
 * started before it.
 */
interface KnownPositions {
  add(log: string, seq: number): void
  has(log: string, seq: number): boolean
}

function createKnownPositions(): KnownPositions {
  const ends = new Set<string>()
  return {
    add(log, seq) {
      ends.add(`${log} ${seq}`)
      if (ends.size > MAX_POSITIONS) ends.delete(ends.values().next().value as string)
    },
    has: (log, seq) => ends.has(`${log} ${seq}`),
  }
}

/** A batch with longer JSON is stored as an object, bytes. */
const MAX_INLINE_BYTES = 16 * 1024
/** Sorts after every batch. */
const LAST = `${EVENT_PREFIX}~`
const lastSeqOf = (batch: EventBatch): number => batch.firstSeq + batch.events.length - 1
const executionEvents = z.array(executionEventSchema)
const partitionOf = (owner: EventOwner): string => rowKey(owner.tenant, owner.kind, owner.id).pk

/** A batch with the length of its JSON. */
interface OpenedBatch extends EventBatch {
  readonly bytes: number
}

/** The batches of the table, read and opened. */
class Batches {
  readonly items: Items
  readonly objects: ObjectStore
  readonly ends = createKnownPositions()

  constructor(items: Items, objects: ObjectStore) {
    this.items = items
    this.objects = objects
  }

  async open(owner: EventOwner, item: Item): Promise<OpenedBatch> {
    const objectKey = item['objectKey']
    const text = typeof objectKey === 'string' ? await readText(this.objects, objectKey) : String(item['events'])
    return {
      bytes: text.length,
      firstSeq: Number(item['firstSeq']),
      events: parseEvents(owner, text),
      fence: Number(item['fence']),
      sourceSeq: item['sourceSeq'] === undefined ? null : Number(item['sourceSeq']),
    }
  }

  /** The newest batch of the owner whose key meets this condition. */
  async newest(owner: EventOwner, where: Condition): Promise<EventBatch | null> {
    const isOwners = equals('pk', partitionOf(owner))
    const [item] = (await this.items.query({ where: all(isOwners, where), descending: true, limit: 1 })).items
    return item === undefined ? null : this.open(owner, item)
  }

  async oldest(owner: EventOwner): Promise<EventBatch | null> {
    const where = all(equals('pk', partitionOf(owner)), startsWith('sk', EVENT_PREFIX))
    const [item] = (await this.items.query({ where, limit: 1 })).items
    return item === undefined ? null : this.open(owner, item)
  }

  /** The events after `after` in the batch that starts at or before it. */
  async restOfBatch(owner: EventOwner, after: number): Promise<readonly AnyEvent[]> {
    const batch = await this.newest(owner, between('sk', EVENT_PREFIX, eventSortKey(after)))
    if (batch !== null) this.ends.add(partitionOf(owner), lastSeqOf(batch))
    return batch === null ? [] : batch.events.filter((event) => event.seq > after)
  }
}

/** Throws ZodError when an event of an execution is not as the log has it. */
function parseEvents(owner: EventOwner, text: string): readonly AnyEvent[] {
  const events: unknown = JSON.parse(text)
  return owner.kind === 'execution' ? executionEvents.parse(events) : (events as AnyEvent[])
}

/** Batches are in their owner's partition, ordered by their first number. A written batch never changes. */
export function createEventStore(items: Items, objects: ObjectStore): EventStore {
  const batches = new Batches(items, objects)
  return {
    append: (owner, batch) => append(batches, owner, batch),
    read: async <E extends AnyEvent>(owner: EventOwner, after: number, limit: ReadLimit) =>
      (await read(batches, owner, after, limit)) as readonly E[],
    last: (owner) => batches.newest(owner, startsWith('sk', EVENT_PREFIX)),
    first: (owner) => batches.oldest(owner),
    removeBefore: (owner, seq) => removeBefore(batches, owner, seq),
    removeAll: (owner) => removeAll(batches, owner),
  }
}

async function append({ items, objects, ends }: Batches, owner: EventOwner, batch: EventBatch): Promise<boolean> {
  const text = JSON.stringify(batch.events)
  const isInline = Buffer.byteLength(text) <= MAX_INLINE_BYTES
  const objectKey = isInline ? null : newObjectKey(owner.tenant, 'events', owner.id)
  if (objectKey !== null) await objects.put(objectKey, Buffer.from(text), { contentType: 'application/json' })
  const key = { pk: partitionOf(owner), sk: eventSortKey(batch.firstSeq) }
  const body = { fence: batch.fence, ...(objectKey === null ? { events: text } : { objectKey }) }
  const source = batch.sourceSeq === null ? {} : { sourceSeq: batch.sourceSeq }
  const isFirst = await items.put({ ...key, firstSeq: batch.firstSeq, ...source, ...body }, absent('pk'))
  // The client repeats a write whose reply was lost, so the batch in the table may be this one.
  const isMine = isFirst || holds(await items.get(key), body)
  if (isMine) ends.add(partitionOf(owner), lastSeqOf(batch))
  else if (objectKey !== null) await objects.delete(objectKey)
  return isMine
}

async function read(batches: Batches, owner: EventOwner, ...[after, given]: [number, ReadLimit]): Promise<readonly AnyEvent[]> {
  const { items, ends } = batches
  const { events: limit, bytes: maxBytes } = typeof given === 'number' ? { events: given, bytes: Number.POSITIVE_INFINITY } : given
  let bytes = 0
  const pk = partitionOf(owner)
  const events: AnyEvent[] = []
  let startKey: Item | undefined
  do {
    const where = all(equals('pk', pk), between('sk', eventSortKey(after + 1), LAST))
    const page = await items.query({ where, limit: Math.max(1, limit - events.length), startKey })
    const isAligned = page.items[0]?.['firstSeq'] === after + 1 || after < 0 || ends.has(pk, after)
    if (startKey === undefined && !isAligned) events.push(...(await batches.restOfBatch(owner, after)))
    for (const item of page.items) {
      const batch = await batches.open(owner, item)
      if (events.length > 0 && (events.length + batch.events.length > limit || bytes + batch.bytes > maxBytes)) return events
      events.push(...batch.events)
      bytes += batch.bytes
      ends.add(pk, lastSeqOf(batch))
    }
    startKey = page.lastKey
  } while (startKey !== undefined && events.length < limit && bytes < maxBytes)
  return events
}

const removeAll = (batches: Batches, owner: EventOwner): Promise<void> => removeRange(batches, owner, LAST)

/** A batch ends before `seq` when the batch after it starts at or before it. */
async function removeBefore(batches: Batches, owner: EventOwner, seq: number): Promise<void> {
  const newest = await batches.newest(owner, between('sk', EVENT_PREFIX, eventSortKey(seq)))
  if (newest !== null) await removeRange(batches, owner, eventSortKey(newest.firstSeq - 1))
}

/** Removes the batches up to the one with this key. */
async function removeRange({ items, objects }: Batches, owner: EventOwner, lastKey: string): Promise<void> {
  let startKey: Item | undefined
  do {
    const page = await items.query({ where: all(equals('pk', partitionOf(owner)), between('sk', EVENT_PREFIX, lastKey)), startKey })
    await Promise.all(page.items.map((item) => (typeof item['objectKey'] === 'string' ? objects.delete(item['objectKey']) : undefined)))
    await items.writeMany(page.items.map(removalOf))
    startKey = page.lastKey
  } while (startKey !== undefined)
}

const holds = (item: Item | null, body: Item): boolean =>
  item !== null && Object.entries(body).every(([name, value]) => item[name] === value)

async function readText(objects: ObjectStore, key: string): Promise<string> {
  const found = await objects.get(key)
  if (found === null) throw new Error('A batch of events has lost its object.')
  return (await readBytes(found.body)).toString('utf8')
}
