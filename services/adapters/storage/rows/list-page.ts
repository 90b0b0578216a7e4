import { idTime, type IdKind } from '../../../model/ids.ts'
import type { Page, PageRequest } from '../../../model/page.ts'
import { above, all, below, equals, type Condition } from './expression.ts'
import type { Items } from './items.ts'
import { listSortKey, type ItemKey } from './keys.ts'
import type { Item, RowCodec } from './row-codec.ts'

interface Place {
  readonly id: string
  readonly createdAt: number
}

/** The position of the row with this id, also of a deleted one, so that a client can delete the rows of a page and continue after it. */
export function placeOf(kind: IdKind, id: string, row: Place | null): Place | null {
  if (row !== null) return row
  const createdAt = idTime(kind, id)
  return createdAt === null ? null : { id, createdAt }
}

/**
 * One page of the `list` index. The index has keys only, and the rows are read from the table afterwards. A page may therefore miss a recent creation or
 * deletion, but never has an old state of a row.
 */
export async function listPage<Row>(
  items: Items,
  codec: RowCodec<Row & object>,
  list: {
    readonly partition: string
    /** The page starts after this row. */
    readonly after: Place | null
    readonly page: PageRequest
    /** Condition on attributes of the index. */
    readonly filter?: Condition
  },
): Promise<Page<Row>> {
  const { limit, order } = list.page
  const inList = equals('lpk', list.partition)
  const beyond = order === 'asc' ? above : below
  const where = list.after === null ? inList : all(inList, beyond('lsk', listSortKey(list.after.createdAt, list.after.id)))
  const keys: ItemKey[] = []
  let startKey: Item | undefined
  do {
    const found = await items.query({
      index: 'list',
      where,
      ...(list.filter === undefined ? { limit: limit + 1 - keys.length } : { filter: list.filter }),
      descending: order === 'desc',
      startKey,
    })
    keys.push(...found.items.map((item) => ({ pk: String(item['pk']), sk: String(item['sk']) })))
    startKey = found.lastKey
  } while (startKey !== undefined && keys.length <= limit)
  const rows = await items.getMany(keys.slice(0, limit))
  return {
    rows: rows.filter((item) => item !== null && item['deletedAt'] === undefined).map((item) => codec.decode(item as Item)),
    hasMore: keys.length > limit,
  }
}
