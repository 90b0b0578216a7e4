import { changeByCompareAndSet } from '../../../model/change-by-compare-and-set.ts'
import {
  batchAt,
  entryId,
  entryPosition,
  NETWORK_LOG,
  positionOf,
  type NetworkBatch,
  type NetworkEntry,
} from '../../../model/network/network-log.ts'
import type { NetworkLogStore } from '../../../ports/network-log-store.ts'
import { absent, all, equals, startsWith, type Condition } from './expression.ts'
import type { Items } from './items.ts'
import { rowKey } from './keys.ts'
import type { Item } from './row-codec.ts'

const PREFIX = 'batch#'

type Of = Parameters<NetworkLogStore['append']>[0]

const keyOf = ({ tenant, containerId }: Of, number: number) => ({
  pk: rowKey(tenant, 'network', containerId).pk,
  sk: PREFIX + String(number).padStart(10, '0'),
})
const inLog = (of: Of): Condition => all(equals('pk', keyOf(of, 0).pk), startsWith('sk', PREFIX))

const decode = (item: Item): NetworkBatch => ({
  number: Number(item['number']),
  entries: JSON.parse(String(item['entries'])) as NetworkEntry[],
})

/** A batch is one item. The last one grows until it is full, under a condition on its length. */
export const createNetworkLogStore = (items: Items): NetworkLogStore => ({ append: appendTo(items), ...reads(items) })

function appendTo(items: Items): NetworkLogStore['append'] {
  const last = async (of: Of): Promise<NetworkBatch | null> => {
    const [item] = (await items.query({ where: inLog(of), descending: true, limit: 1 })).items
    return item === undefined ? null : decode(item)
  }
  const write = (of: Of, { number, entries }: NetworkBatch, condition: Condition): Promise<boolean> =>
    items.put({ ...keyOf(of, number), number, count: entries.length, entries: JSON.stringify(entries) }, condition, { isDeferred: true })

  async function begin(of: Of, number: number, entries: readonly NetworkEntry[]): Promise<{ readonly position: number } | undefined> {
    if (!(await write(of, { number, entries }, absent('pk')))) return undefined
    if (number > NETWORK_LOG.batches) await items.delete(keyOf(of, number - NETWORK_LOG.batches))
    return { position: positionOf(number, 0) }
  }

  async function tryAppend(of: Of, entries: readonly NetworkEntry[]): Promise<{ readonly position: number } | undefined> {
    const before = await last(of)
    const count = before?.entries.length ?? 0
    if (before === null || count + entries.length > NETWORK_LOG.perBatch) return begin(of, (before?.number ?? 0) + 1, entries)
    const grown = { number: before.number, entries: [...before.entries, ...entries] }
    return (await write(of, grown, equals('count', count))) ? { position: positionOf(before.number, count) } : undefined
  }

  return async (of, entries, position = null) => {
    const known = position === null ? null : batchAt(position)
    if (known !== null && known.count + entries.length > NETWORK_LOG.perBatch) {
      const begun = await begin(of, known.number + 1, entries)
      if (begun !== undefined) return begun.position
    }
    const failure = () => new Error(`The network log of ${of.containerId} changed during every attempt to append to it.`)
    return (await changeByCompareAndSet(() => tryAppend(of, entries), failure)).position
  }
}

function reads(items: Items): Omit<NetworkLogStore, 'append'> {
  return {
    async list(of, { after, limit, order }) {
      const isDescending = order === 'desc'
      const start = after === null ? null : entryPosition(after)
      if (after !== null && start === null) return { rows: [], hasMore: false }
      const isBeyond = (position: number): boolean => start === null || (isDescending ? position < start : position > start)
      const rows: { readonly id: string; readonly entry: NetworkEntry }[] = []
      let startKey: Item | undefined
      do {
        const page = await items.query({ where: inLog(of), descending: isDescending, limit: 10, startKey })
        for (const item of page.items) {
          const { number, entries } = decode(item)
          const placed = entries.map((entry, index) => ({ position: positionOf(number, index), entry }))
          for (const { position, entry } of isDescending ? placed.toReversed() : placed)
            if (isBeyond(position)) rows.push({ id: entryId(position), entry })
        }
        startKey = page.lastKey
      } while (startKey !== undefined && rows.length <= limit)
      return { rows: rows.slice(0, limit), hasMore: rows.length > limit }
    },

    async removeBefore(of, time) {
      for (;;) {
        const [item] = (await items.query({ where: inLog(of), limit: 1 })).items
        if (item === undefined) return null
        const batch = decode(item)
        if ((batch.entries.at(-1)?.at ?? 0) >= time) return batch
        await items.delete(keyOf(of, batch.number))
      }
    },
  }
}
