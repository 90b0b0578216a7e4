import type { MemoryTier } from '../../core/limits.ts'
import type { SandboxStore } from '../../core/ports/sandbox-store.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { absent, all, any, assign, copy, equals, oneOf, remove, set, startsWith, type Action, type Condition } from './expression.ts'
import type { Items } from './items.ts'
import { POOL_TENANT, dueShard, listSortKey, rowKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { sandboxCodec } from './row-shapes.ts'

const POOL = `T#${POOL_TENANT}`
const READY = 'ready'
const keyOf = (id: string) => rowKey(POOL_TENANT, 'sandbox', id)
const readySortKey = (tier: MemoryTier): string => `${READY}#${tier}#`
const startingSortKey = (tier: MemoryTier): string => `starting#${tier}#`
/** The key in the `pool` index of a sandbox that cannot be claimed. */
const takenSortKey = (id: string): string => `taken#${id}`
const decode = (item: Item | null): Sandbox | null => (item === null ? null : sandboxCodec.decode(item))

export function createSandboxStore(items: Items): SandboxStore {
  const inPool = async (where: Condition, limit: number): Promise<readonly Sandbox[]> => {
    const found: Sandbox[] = []
    let startKey: Item | undefined
    do {
      const page = await items.query({ index: 'pool', where, startKey, ...(Number.isFinite(limit) ? { limit: limit - found.length } : {}) })
      for (const item of page.items) found.push(sandboxCodec.decode(item))
      startKey = page.lastKey
    } while (startKey !== undefined && found.length < limit)
    return found
  }

  return {
    create: (sandbox) => {
      const key = keyOf(sandbox.id)
      const claimable = `${readySortKey(sandbox.memoryTier)}${listSortKey(sandbox.createdAt, sandbox.id)}`
      const readyPoolSk = sandbox.claimedBy === null ? claimable : takenSortKey(sandbox.id)
      const startingPoolSk = `${startingSortKey(sandbox.memoryTier)}${listSortKey(sandbox.createdAt, sandbox.id)}`
      const isReservable = sandbox.state === 'starting' && sandbox.claimedBy === null
      const poolSk = sandbox.state === 'ready' ? readyPoolSk : isReservable ? startingPoolSk : takenSortKey(sandbox.id)
      const index = sandbox.state === 'gone' ? {} : { poolPk: POOL, poolSk, readyPoolSk }
      return items.put({ ...sandboxCodec.encode(sandbox), ...key, ...index, dueShard: dueShard(key.pk) }, absent('pk'))
    },

    get: async (id) => decode(await items.get(keyOf(id))),

    async claim(id, { tenant, containerId }, now, dueAt) {
      const change = sandboxCodec.patch({ state: 'claimed', claimedBy: { tenant, containerId }, claimedAt: now })
      // One that was started for a container is that container's only.
      const isMine = equals('claimedBy', JSON.stringify({ tenant, containerId }))
      const mayClaim = all(equals('state', READY), any(absent('claimedBy'), isMine))
      return decode(await items.update(keyOf(id), [...change, set('dueAt', dueAt), set('poolSk', takenSortKey(id))], mayClaim))
    },

    async reserve(id, { tenant, containerId }, now) {
      const change = { claimedBy: { tenant, containerId }, claimedAt: now }
      return decode(
        await items.update(
          keyOf(id),
          [...sandboxCodec.patch(change), ...poolActions(id, change)],
          all(equals('state', 'starting'), absent('claimedBy')),
        ),
      )
    },

    async move(id, from, change, { unclaimed = false } = {}) {
      const actions = [...sandboxCodec.patch(change), ...poolActions(id, change)]
      if (actions.length === 0) actions.push(assign('id', id))
      const isThere = oneOf('state', from)
      return decode(await items.update(keyOf(id), actions, unclaimed ? all(isThere, absent('claimedBy')) : isThere))
    },

    ready: (tier, limit) => inPool(all(equals('poolPk', POOL), startsWith('poolSk', readySortKey(tier))), limit),
    starting: (tier, limit) => inPool(all(equals('poolPk', POOL), startsWith('poolSk', startingSortKey(tier))), limit),
    all: () => inPool(equals('poolPk', POOL), Number.POSITIVE_INFINITY),
    remove: (id) => items.delete(keyOf(id)),
  }
}

/** How a change moves the sandbox in the `pool` index. */
function poolActions(id: string, change: Partial<Pick<Sandbox, 'state' | 'claimedBy'>>): readonly Action[] {
  if (change.state === 'gone') return [remove('poolPk'), remove('poolSk')]
  if (change.claimedBy !== undefined && change.claimedBy !== null)
    return [set('poolSk', takenSortKey(id)), set('readyPoolSk', takenSortKey(id))]
  if (change.state === 'ready') return [copy('poolSk', 'readyPoolSk')]
  return change.state === undefined ? [] : [set('poolSk', takenSortKey(id))]
}
