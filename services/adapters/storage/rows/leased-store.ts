import { isLeased, type LeasedRow } from '../../../model/lease.ts'
import type { LeasedStore, Seen } from '../../../ports/leased-store.ts'
import {
  absent,
  all,
  any,
  assign,
  atMost,
  equals,
  exists,
  increment,
  oneOf,
  remove,
  set,
  setOnce,
  type Action,
  type Condition,
} from './expression.ts'
import type { Items, ReadOptions, UpdateOptions } from './items.ts'
import { dueShard, rowKey } from './keys.ts'
import type { Item, RowCodec } from './row-codec.ts'

export interface LeasedKind<Row extends LeasedRow> {
  readonly name: 'execution' | 'response' | 'delivery'
  readonly codec: RowCodec<Row>
  /** Statuses that are not terminal. */
  readonly live: readonly string[]
  /** Further index attributes of a new row. */
  readonly index: (row: Row) => Item
}

/** A holder may release its lease between a refused write and the read that follows; after this many attempts the row counts as busy. */
const MAX_ATTEMPTS = 3

/** The rows of one kind, as the operations below read and write them. */
class Rows<Row extends LeasedRow> {
  readonly items: Items
  readonly kind: LeasedKind<Row>
  readonly isLive: Condition

  constructor(items: Items, kind: LeasedKind<Row>) {
    this.items = items
    this.kind = kind
    this.isLive = oneOf('status', kind.live)
  }

  keyOf(tenant: string, id: string) {
    return rowKey(tenant, this.kind.name, id)
  }

  async get(tenant: string, id: string, options?: ReadOptions): Promise<Row | null> {
    return this.decode(await this.items.get(this.keyOf(tenant, id), options))
  }

  async update({ tenant, id }: Pick<Row, 'tenant' | 'id'>, actions: readonly Action[], options: UpdateOptions): Promise<Row | null> {
    return this.decode(await this.items.update(this.keyOf(tenant, id), actions, options))
  }

  decode(item: Item | null): Row | null {
    return item === null ? null : this.kind.codec.decode(item)
  }

  patch(patch: object): readonly Action[] {
    const fields = Object.entries(patch).filter(([field]) => field !== 'dueAt')
    return this.kind.codec.patch(Object.fromEntries(fields) as Partial<Row>)
  }
}

/** Rows that workers advance under a lease; each operation is one conditional write. */
export function createLeasedStore<Row extends LeasedRow>(items: Items, kind: LeasedKind<Row>): LeasedStore<Row> {
  const rows = new Rows(items, kind)

  return {
    create: (row, options) => {
      const key = rows.keyOf(row.tenant, row.id)
      return items.put({ ...kind.codec.encode(row), ...key, ...kind.index(row), dueShard: dueShard(key.pk) }, absent('pk'), options)
    },

    get: (tenant, id) => rows.get(tenant, id),
    poll: (tenant, id) => rows.get(tenant, id, { mayLag: true }),
    acquireLease: acquireLease(rows),
    commit: commit(rows),

    async requestCancel(tenant, id, now) {
      return (await rows.update({ tenant, id }, [setOnce('cancelRequestedAt', now)], { condition: rows.isLive })) ?? rows.get(tenant, id)
    },

    async postpone(tenant, id, dueAt) {
      await rows.update({ tenant, id }, [assign('dueAt', dueAt)], { condition: rows.isLive })
    },

    remove: async (tenant, id) => void (await items.delete(rows.keyOf(tenant, id))),
  }
}

function acquireLease<Row extends LeasedRow>(rows: Rows<Row>): LeasedStore<Row>['acquireLease'] {
  const { isLive } = rows
  const hasEnded = (row: Row): boolean => !rows.kind.live.includes(row.status)
  return async ({ tenant, id }, { owner, now, expiresAt, seen = {} }, patch = {}) => {
    const actions = [...rows.patch(patch), set('lease', { owner, expiresAt }), increment('fence')]
    const isFree = any(absent('lease'), atMost('lease.expiresAt', now))
    const fields = Object.entries(seen) as [keyof Seen, string | number | null][]
    const isAsSeen = fields.map(([field, value]) => (value === null ? absent(field) : equals(field, value)))
    // A row without a previous holder has no lease.
    const mayTake = all(isLive, ...(seen.fence === 0 ? [] : [isFree]), ...isAsSeen)
    const isDueByEnd = atMost('dueAt', expiresAt)
    let isDueLater = false
    for (let attempt = 1; ; attempt++) {
      const change = isDueLater ? [...actions, set('dueAt', expiresAt)] : actions
      const condition = isDueLater ? mayTake : all(mayTake, isDueByEnd)
      // A holder acts through later writes. A power failure loses them together with this write, or loses neither.
      const acquired = await rows.update({ tenant, id }, change, { condition, isDeferred: true })
      if (acquired !== null) return { kind: 'acquired', row: acquired }
      const row = await rows.get(tenant, id)
      if (row === null) return { kind: 'missing' }
      if (hasEnded(row)) return { kind: 'ended', row }
      // The client repeats a write whose reply was lost, so a refused write may have succeeded in this call.
      if (row.lease?.owner === owner && row.lease.expiresAt === expiresAt) return { kind: 'acquired', row }
      const isHeld = isLeased(row, now)
      if (!isHeld && fields.some(([field, value]) => (row as Seen)[field] !== value)) return { kind: 'moved', row }
      if (isHeld || attempt === MAX_ATTEMPTS) return { kind: 'busy', row }
      isDueLater = row.dueAt === null || row.dueAt > expiresAt
    }
  }
}

function commit<Row extends LeasedRow>(rows: Rows<Row>): LeasedStore<Row>['commit'] {
  const { isLive } = rows
  return async (row, patch, { release = false, extendTo, dueAt, removeAt } = {}) => {
    const isMine = all(isLive, equals('fence', row.fence))
    const ends = patch.status !== undefined && !rows.kind.live.includes(patch.status)
    if (ends) {
      const actions = [...rows.patch(patch), remove('lease'), assign('dueAt', removeAt ?? null)]
      return rows.update(row, actions, { condition: isMine, isGrowth: true })
    }
    const nextDueAt = dueAt ?? patch.dueAt ?? extendTo
    const isExtending = extendTo !== undefined && !release
    const actions: Action[] = [
      ...rows.patch(patch),
      ...(release ? [remove('lease')] : []),
      ...(isExtending ? [set('lease.expiresAt', extendTo)] : []),
      ...(nextDueAt !== undefined ? [set('dueAt', nextDueAt)] : patch.dueAt === null ? [remove('dueAt')] : []),
    ]
    if (actions.length === 0) actions.push(set('fence', row.fence))
    return rows.update(row, actions, { condition: isExtending ? all(isMine, exists('lease')) : isMine })
  }
}
