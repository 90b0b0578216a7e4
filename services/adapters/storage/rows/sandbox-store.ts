import { ID_PREFIXES } from '../../../model/ids.ts'
import type { MemoryTier } from '../../../model/limits.ts'
import type { SandboxStore } from '../../../ports/sandbox-store.ts'
import type { Sandbox } from '../../../model/sandboxes/sandbox.ts'
import { absent, all, any, assign, copy, equals, oneOf, remove, set, startsWith, type Action, type Condition } from './expression.ts'
import type { Items } from './items.ts'
import { POOL_TENANT, dueShard, listSortKey, part, rowKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { sandboxCodec } from './row-shapes.ts'

const POOL = `T#${POOL_TENANT}`
const READY = 'ready'
const keyOf = (id: string) => rowKey(POOL_TENANT, 'sandbox', id)
const readySortKey = (tier: MemoryTier): string => `${READY}#${tier}#`
const startingSortKey = (tier: MemoryTier): string => `starting#${tier}#`
/** The key in the `pool` index of a sandbox that cannot be claimed: by tenant while one holds it. */
const takenSortKey = (id: string): string => `taken#${id}`
const heldPrefix = (tenant: string): string => `taken#T#${part(tenant)}#`
const heldSortKey = ({ tenant }: NonNullable<Sandbox['claimedBy']>, id: string): string => `${heldPrefix(tenant)}${id}`
/** Rows of versions whose key did not name the tenant, and rows that stop. */
const UNNAMED_PREFIX = `taken#${ID_PREFIXES.sandbox}`
const decode = (item: Item | null): Sandbox | null => (item === null ? null : sandboxCodec.decode(item))

export const createSandboxStore = (items: Items): SandboxStore => ({ ...rowVerbs(items), ...claimVerbs(items), ...poolVerbs(items) })

function rowVerbs(items: Items): Pick<SandboxStore, 'create' | 'get' | 'remove'> {
  return {
    create: (sandbox) => {
      const key = keyOf(sandbox.id)
      const claimable = `${readySortKey(sandbox.memoryTier)}${listSortKey(sandbox.createdAt, sandbox.id)}`
      const takenPoolSk = sandbox.claimedBy === null ? takenSortKey(sandbox.id) : heldSortKey(sandbox.claimedBy, sandbox.id)
      const readyPoolSk = sandbox.claimedBy === null ? claimable : takenPoolSk
      const startingPoolSk = `${startingSortKey(sandbox.memoryTier)}${listSortKey(sandbox.createdAt, sandbox.id)}`
      const isReservable = sandbox.state === 'starting' && sandbox.claimedBy === null
      const poolSk = sandbox.state === 'ready' ? readyPoolSk : isReservable ? startingPoolSk : takenPoolSk
      const index = sandbox.state === 'gone' ? {} : { poolPk: POOL, poolSk, readyPoolSk }
      return items.put({ ...sandboxCodec.encode(sandbox), ...key, ...index, dueShard: dueShard(key.pk) }, absent('pk'))
    },

    get: async (id) => decode(await items.get(keyOf(id))),
    remove: async (id) => void (await items.delete(keyOf(id))),
  }
}

function claimVerbs(items: Items): Pick<SandboxStore, 'claim' | 'reserve' | 'move'> {
  return {
    async claim(id, { tenant, containerId }, { now, dueAt }) {
      const change = sandboxCodec.patch({ state: 'claimed', claimedBy: { tenant, containerId }, claimedAt: now })
      // Only the container for which a sandbox was started may claim it.
      const isMine = equals('claimedBy', JSON.stringify({ tenant, containerId }))
      const mayClaim = all(equals('state', READY), any(absent('claimedBy'), isMine))
      return decode(
        await items.update(keyOf(id), [...change, set('dueAt', dueAt), ...heldActions(id, { tenant, containerId })], {
          condition: mayClaim,
        }),
      )
    },

    async reserve(id, { tenant, containerId }, now) {
      const change = { claimedBy: { tenant, containerId }, claimedAt: now }
      return decode(
        await items.update(keyOf(id), [...sandboxCodec.patch(change), ...poolActions(id, change)], {
          condition: all(equals('state', 'starting'), absent('claimedBy')),
        }),
      )
    },

    async move(id, { from, unclaimed = false }, change) {
      const actions = [...sandboxCodec.patch(change), ...poolActions(id, change)]
      if (actions.length === 0) actions.push(assign('id', id))
      const isThere = oneOf('state', from)
      return decode(await items.update(keyOf(id), actions, { condition: unclaimed ? all(isThere, absent('claimedBy')) : isThere }))
    },
  }
}

function poolVerbs(items: Items): Pick<SandboxStore, 'ready' | 'starting' | 'all' | 'ofTenant'> {
  const find = (prefix: string, limit = Number.POSITIVE_INFINITY): Promise<readonly Sandbox[]> =>
    inPool(items, all(equals('poolPk', POOL), startsWith('poolSk', prefix)), limit)
  return {
    ready: (tier, limit) => find(readySortKey(tier), limit),
    starting: (tier, limit) => find(startingSortKey(tier), limit),
    all: () => inPool(items, equals('poolPk', POOL), Number.POSITIVE_INFINITY),
    async ofTenant(tenant) {
      const [held, unnamed] = await Promise.all([find(heldPrefix(tenant)), find(UNNAMED_PREFIX)])
      return [...held, ...unnamed.filter(({ claimedBy }) => claimedBy?.tenant === tenant)]
    },
  }
}

async function inPool(items: Items, where: Condition, limit: number): Promise<readonly Sandbox[]> {
  const found: Sandbox[] = []
  let startKey: Item | undefined
  do {
    const page = await items.query({ index: 'pool', where, startKey, ...(Number.isFinite(limit) ? { limit: limit - found.length } : {}) })
    for (const item of page.items) found.push(sandboxCodec.decode(item))
    startKey = page.lastKey
  } while (startKey !== undefined && found.length < limit)
  return found
}

/** A sandbox that a container holds keeps the key of its tenant, also when it becomes `claimed` after a start or a resumption. */
const heldActions = (id: string, holder: NonNullable<Sandbox['claimedBy']>): readonly Action[] => [
  set('poolSk', heldSortKey(holder, id)),
  set('readyPoolSk', heldSortKey(holder, id)),
]

/** How a change moves the sandbox in the `pool` index. */
function poolActions(id: string, change: Partial<Pick<Sandbox, 'state' | 'claimedBy'>>): readonly Action[] {
  if (change.state === 'gone') return [remove('poolPk'), remove('poolSk')]
  if (change.claimedBy !== undefined && change.claimedBy !== null) return heldActions(id, change.claimedBy)
  // A sandbox that a container reserved becomes `claimed`, and keeps the key of its tenant.
  if (change.state === 'ready' || change.state === 'claimed') return [copy('poolSk', 'readyPoolSk')]
  // A sandbox that is suspended or resumed stays with its tenant.
  const isHeld = change.state === 'suspending' || change.state === 'suspended' || change.state === 'starting'
  return change.state === undefined || isHeld ? [] : [set('poolSk', takenSortKey(id))]
}
