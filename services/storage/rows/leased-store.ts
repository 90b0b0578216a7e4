import type { LeasedRow } from '../../core/lease.ts'
import type { LeasedStore, Seen, LeaseResult } from '../../core/ports/leased-store.ts'
import { absent, all, any, assign, atMost, equals, exists, increment, oneOf, remove, set, setOnce, type Action } from './expression.ts'
import type { Items } from './items.ts'
import { dueShard, rowKey } from './keys.ts'
import type { Item, RowCodec } from './row-codec.ts'

export interface LeasedKind<Row extends LeasedRow> {
  readonly name: 'execution' | 'response'
  readonly codec: RowCodec<Row>
  /** Statuses that are not terminal. */
  readonly live: readonly string[]
  /** Index attributes that a new row gets besides. */
  readonly index: (row: Row) => Item
}

/** A holder may release its lease between a refused write and the read that follows; after this many attempts the row counts as busy. */
const MAX_TRIES = 3

/** Rows that workers advance under a lease, whatever they are: one conditional write a verb. */
export function createLeasedStore<Row extends LeasedRow>(items: Items, kind: LeasedKind<Row>): LeasedStore<Row> {
  const keyOf = (tenant: string, id: string) => rowKey(tenant, kind.name, id)
  const isLive = oneOf('status', kind.live)
  const hasEnded = (row: Row): boolean => !kind.live.includes(row.status)
  const decode = (item: Item | null): Row | null => (item === null ? null : kind.codec.decode(item))
  const get = async (tenant: string, id: string): Promise<Row | null> => decode(await items.get(keyOf(tenant, id)))

  return {
    create: (row) => {
      const key = keyOf(row.tenant, row.id)
      return items.put({ ...kind.codec.encode(row), ...key, ...kind.index(row), dueShard: dueShard(key.pk) }, absent('pk'))
    },

    get,

    async acquireLease(tenant, id, { owner, now, expiresAt, seen = {} }, patch = {}): Promise<LeaseResult<Row>> {
      const actions = [
        ...patchActions(kind.codec, patch, ['dueAt']),
        set('lease', { owner, expiresAt }),
        set('dueAt', expiresAt),
        increment('fence'),
      ]
      const isFree = any(absent('lease'), atMost('lease.expiresAt', now))
      const fields = Object.entries(seen) as [keyof Seen, string | number | null][]
      const isAsSeen = fields.map(([field, value]) => (value === null ? absent(field) : equals(field, value)))
      // A row without a previous holder has no lease.
      const mayTake = all(isLive, ...(seen.fence === 0 ? [] : [isFree]), ...isAsSeen)
      for (let tries = 1; ; tries++) {
        const taken = decode(await items.update(keyOf(tenant, id), actions, mayTake))
        if (taken !== null) return { kind: 'taken', row: taken }
        const row = await get(tenant, id)
        if (row === null) return { kind: 'missing' }
        if (hasEnded(row)) return { kind: 'ended', row }
        // The client sends a write again when its answer got lost: what is refused then may have been done by this very call.
        if (row.lease?.owner === owner && row.lease.expiresAt === expiresAt) return { kind: 'taken', row }
        const isHeld = row.lease !== null && row.lease.expiresAt > now
        if (!isHeld && fields.some(([field, value]) => (row as Seen)[field] !== value)) return { kind: 'moved', row }
        if (isHeld || tries === MAX_TRIES) return { kind: 'busy', row }
      }
    },

    async commit(tenant, id, fence, patch, { release = false, extendTo, dueAt, removeAt } = {}): Promise<Row | null> {
      const isMine = all(isLive, equals('fence', fence))
      const ends = patch.status !== undefined && !kind.live.includes(patch.status)
      if (ends) {
        const actions = [...patchActions(kind.codec, patch, ['dueAt']), remove('lease'), assign('dueAt', removeAt ?? null)]
        return decode(await items.update(keyOf(tenant, id), actions, isMine))
      }
      const nextDueAt = dueAt ?? patch.dueAt ?? extendTo
      const isExtending = extendTo !== undefined && !release
      const actions: Action[] = [
        ...patchActions(kind.codec, patch, ['dueAt']),
        ...(release ? [remove('lease')] : []),
        ...(isExtending ? [set('lease.expiresAt', extendTo)] : []),
        ...(nextDueAt !== undefined ? [set('dueAt', nextDueAt)] : patch.dueAt === null ? [remove('dueAt')] : []),
      ]
      if (actions.length === 0) actions.push(set('fence', fence))
      return decode(await items.update(keyOf(tenant, id), actions, isExtending ? all(isMine, exists('lease')) : isMine))
    },

    async requestCancel(tenant, id, now) {
      const marked = await items.update(keyOf(tenant, id), [setOnce('cancelRequestedAt', now)], isLive)
      return marked === null ? get(tenant, id) : decode(marked)
    },

    async postpone(tenant, id, dueAt) {
      await items.update(keyOf(tenant, id), [assign('dueAt', dueAt)], isLive)
    },

    remove: (tenant, id) => items.delete(keyOf(tenant, id)),
  }
}

function patchActions<Row extends object>(codec: RowCodec<Row>, patch: object, except: readonly string[]): readonly Action[] {
  return codec.patch(Object.fromEntries(Object.entries(patch).filter(([field]) => !except.includes(field))) as Partial<Row>)
}
