import { changeByCompareAndSet } from '../../../model/change-by-compare-and-set.ts'
import type { Container } from '../../../model/containers/container.ts'
import { LIMITS } from '../../../model/limits.ts'
import type { ContainerStore } from '../../../ports/container-store.ts'
import { absent, all, append, assign, below, equals, exists, increment, lacks, remove, set, setOnce, shorterThan } from './expression.ts'
import { createCommandVerbs } from './command-verbs.ts'
import { getContainer } from './container-rows.ts'
import { createHibernationVerbs } from './hibernation-verbs.ts'
import type { Items } from './items.ts'
import { dueShard, listPartition, listSortKey, rowKey } from './keys.ts'
import { listPage, placeOf } from './list-page.ts'
import type { Item } from './row-codec.ts'
import { containerCodec } from './row-shapes.ts'

/** The row exists: every row has a version. */
const isThere = equals('v', 1)
const isLive = all(isThere, absent('deletedAt'))
const decode = (item: Item | null): Container | null => (item === null ? null : containerCodec.decode(item))
const keyOf = (tenant: string, id: string) => rowKey(tenant, 'container', id)
const listOf = (tenant: string, isSnapshot: boolean): string => listPartition(tenant, isSnapshot ? 'snapshots' : 'containers')
const listKeyOf = ({ tenant, createdAt, id, savedFrom }: Pick<Container, 'tenant' | 'createdAt' | 'id' | 'savedFrom'>) => ({
  lpk: listOf(tenant, savedFrom !== undefined),
  lsk: listSortKey(createdAt, id),
})

export const createContainerStore = (items: Items): ContainerStore => ({
  ...rowVerbs(items),
  ...copyVerbs(items),
  ...queueVerbs(items),
  ...createCommandVerbs(items),
  ...networkVerbs(items),
  ...sandboxVerbs(items),
  ...createHibernationVerbs(items),
})

function rowVerbs(
  items: Items,
): Pick<ContainerStore, 'create' | 'get' | 'list' | 'updateExtension' | 'touch' | 'postpone' | 'markDeleted' | 'remove'> {
  return {
    async create(container) {
      const key = keyOf(container.tenant, container.id)
      const index = { ...(container.deletedAt === null && listKeyOf(container)), dueShard: dueShard(key.pk) }
      await items.put({ ...containerCodec.encode(container), ...key, ...index }, absent('pk'))
    },

    get: (tenant, id) => getContainer(items, tenant, id),

    async list(tenant, page) {
      const { isSnapshot = false } = page
      const kind = isSnapshot ? 'snapshot' : 'container'
      const after = page.after === null ? null : placeOf(kind, page.after, await getContainer(items, tenant, page.after))
      if (page.after !== null && after === null) return { rows: [], hasMore: false }
      const filter = page.name === null ? {} : { filter: equals('name', page.name) }
      return listPage(items, containerCodec, { partition: listOf(tenant, isSnapshot), after, page, ...filter })
    },

    async updateExtension({ tenant, id, wire }, change) {
      return changeByCompareAndSet(
        async () => {
          const item = await items.get(keyOf(tenant, id))
          const row = decode(item)
          if (item === null || row === null || row.deletedAt !== null) return null
          const extension = change(row.extensions?.[wire])
          if (extension === undefined) return row
          const before = item['extensions']
          const isUnchanged = before === undefined ? absent('extensions') : equals('extensions', before)
          const actions = containerCodec.patch({ extensions: { ...row.extensions, [wire]: extension } })
          return decode(await items.update(keyOf(tenant, id), actions, { condition: all(isLive, isUnchanged) })) ?? undefined
        },
        () => new Error(`The extensions of ${id} changed during every attempt to change one.`),
      )
    },

    async touch(tenant, id, now) {
      await items.update(keyOf(tenant, id), [set('lastActiveAt', now)], { condition: isLive, isDeferred: true })
    },

    async postpone(tenant, id, dueAt) {
      await items.update(keyOf(tenant, id), [assign('dueAt', dueAt)], { condition: isThere })
    },

    async markDeleted(tenant, id, now) {
      return decode(
        await items.update(keyOf(tenant, id), [setOnce('deletedAt', now), set('dueAt', now), remove('lpk'), remove('lsk')], {
          condition: isThere,
        }),
      )
    },

    remove: async (tenant, id) => void (await items.delete(keyOf(tenant, id))),
  }
}

const copyVerbs = (items: Items): Pick<ContainerStore, 'publish'> => ({
  async publish(container, dueAt) {
    const { tenant, id } = container
    const { lpk, lsk } = listKeyOf(container)
    const actions = [remove('deletedAt'), remove('publishBefore'), assign('dueAt', dueAt), set('lpk', lpk), set('lsk', lsk)]
    const published = decode(await items.update(keyOf(tenant, id), actions, { condition: all(isThere, exists('publishBefore')) }))
    return published ?? getContainer(items, tenant, id)
  },
})

const networkVerbs = (items: Items): Pick<ContainerStore, 'setNetwork' | 'addNetworkBytes'> => ({
  async setNetwork(tenant, id, policy) {
    return decode(await items.update(keyOf(tenant, id), containerCodec.patch({ network: policy }), { condition: isLive }))
  },

  async addNetworkBytes(tenant, id, bytes) {
    return changeByCompareAndSet(
      async () => {
        const row = await getContainer(items, tenant, id)
        if (row === null) return { total: bytes }
        const total = (row.networkBytes ?? 0) + bytes
        const isUnchanged = row.networkBytes === undefined ? absent('networkBytes') : equals('networkBytes', row.networkBytes)
        const written = await items.update(keyOf(tenant, id), [set('networkBytes', total)], { condition: all(isThere, isUnchanged) })
        return written === null ? undefined : { total }
      },
      () => new Error(`The network bytes of ${id} changed during every attempt to add some.`),
    ).then(({ total }) => total)
  },
})

function queueVerbs(items: Items): Pick<ContainerStore, 'enqueue' | 'dequeue'> {
  return {
    async enqueue(tenant, id, { executionId, now, dueAt }) {
      const mayWait = all(isLive, lacks('queue', executionId), shorterThan('queue', LIMITS.maxQueuedPerContainer))
      const actions = [append('queue', executionId), set('lastActiveAt', now), set('dueAt', dueAt)]
      return changeByCompareAndSet(
        async () => {
          const container = decode(await items.update(keyOf(tenant, id), actions, { condition: mayWait, isDeferred: true }))
          if (container !== null) return container
          const row = await getContainer(items, tenant, id)
          if (row === null || row.deletedAt !== null) return 'missing'
          if (row.queue.includes(executionId)) return row
          return row.queue.length >= LIMITS.maxQueuedPerContainer ? 'full' : undefined
        },
        () => new Error(`The queue of the container ${id} changed during every attempt to join it.`),
      )
    },

    async dequeue(tenant, id, { executionId, now, dueAt }) {
      const actions = [remove('queue[0]'), set('lastActiveAt', now), ...(dueAt === null ? [] : [set('dueAt', dueAt)])]
      // After a power failure the reconciler finds the ended execution in the queue and removes it again.
      return decode(await items.update(keyOf(tenant, id), actions, { condition: equals('queue[0]', executionId), isDeferred: true }))
    },
  }
}

function sandboxVerbs(
  items: Items,
): Pick<ContainerStore, 'setSandbox' | 'filesChanged' | 'setSkills' | 'filesSynced' | 'markStateLossReported' | 'markFileLossReported'> {
  return {
    async setSandbox(tenant, id, { generation, whileUnused = false, whileHibernated = false, ...change }) {
      const actions = [
        assign('sandboxId', change.sandboxId),
        assign('stateLost', change.stateLost),
        assign('dueAt', change.dueAt),
        // A later sandbox has received no files yet; the first one of a container needs only changes since version 0.
        ...(change.sandboxId === null ? [] : [increment('generation'), set('syncedFilesVersion', generation === 0 ? 0 : -1)]),
      ]
      const conditions = [
        isLive,
        equals('generation', generation),
        ...(whileUnused ? [shorterThan('queue', 1)] : []),
        ...(whileHibernated ? [equals('snapshot.isRestored', false)] : []),
      ]
      const given = decode(await items.update(keyOf(tenant, id), actions, { condition: all(...conditions) }))
      if (given !== null || change.sandboxId === null) return given
      // The client repeats a write whose reply was lost, so a refused write may have succeeded in this call.
      const row = await getContainer(items, tenant, id)
      const isDone = row?.sandboxId === change.sandboxId && row.generation === generation + 1 && row.deletedAt === null
      return isDone ? row : null
    },

    async filesChanged(tenant, id, now) {
      return decode(await items.update(keyOf(tenant, id), [increment('filesVersion'), set('lastActiveAt', now)], { condition: isLive }))
    },

    async setSkills(tenant, id, { filesVersion, skills }) {
      const actions = [...containerCodec.patch({ skills }), increment('filesVersion')]
      return decode(await items.update(keyOf(tenant, id), actions, { condition: all(isLive, equals('filesVersion', filesVersion)) }))
    },

    async filesSynced(tenant, id, { generation, version }) {
      const isNews = all(equals('generation', generation), below('syncedFilesVersion', version))
      await items.update(keyOf(tenant, id), [set('syncedFilesVersion', version)], { condition: isNews })
    },

    async markStateLossReported(tenant, id, sandboxId) {
      await items.update(keyOf(tenant, id), [remove('stateLost'), remove('lostCommands')], { condition: equals('sandboxId', sandboxId) })
    },

    async markFileLossReported(tenant, id, sandboxId) {
      await items.update(keyOf(tenant, id), [remove('lostFiles')], { condition: equals('sandboxId', sandboxId) })
    },
  }
}
