import type { TenantStore } from '../../../ports/tenant-store.ts'
import { LAST_USED_MS, type ApiKey, type Plan, type Tenant } from '../../../model/tenants/tenant.ts'
import { absent, all, any, assign, atMost, equals, exists, set, setOnce, type Condition } from './expression.ts'
import type { Items } from './items.ts'
import { apiKeyKey, dueShard, listSortKey, rowKey, type ItemKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { apiKeyCodec, planCodec, tenantCodec } from './row-shapes.ts'

/** Partitions outside of tenants, because these lists are for operators. */
const ALL_TENANTS = 'G#tenants'
/** A deletion begins after this, milliseconds: processes cache keys for five seconds. */
const FIRST_PASS_MS = 10_000
const ALL_PLANS = 'G#plans'
const planKey = (name: string): ItemKey => rowKey('_plans', 'plan', name)
/** Sorted by the key's id, so that one query finds a key by its id; the item itself is stored under the hash of the key. */
const ALL_KEYS = 'G#keys'

export function createTenantStore(items: Items): TenantStore {
  return {
    async create(tenant) {
      const index = { lpk: ALL_TENANTS, lsk: listSortKey(tenant.createdAt, tenant.id) }
      await items.put({ ...tenantCodec.encode(tenant), ...rowKey(tenant.id, 'tenant', tenant.id), ...index }, absent('pk'))
    },
    async get(id) {
      const item = await items.get(rowKey(id, 'tenant', id))
      return item === null ? null : tenantCodec.decode(item)
    },
    async list() {
      const rows = await items.getMany(await listed(items, equals('lpk', ALL_TENANTS)))
      return rows.filter((item) => item !== null).map((item): Tenant => tenantCodec.decode(item))
    },
    async rename(id, name) {
      const item = await items.update(rowKey(id, 'tenant', id), tenantCodec.patch({ name }), { condition: exists('pk') })
      return item === null ? null : tenantCodec.decode(item)
    },
    async setPolicy(id, policy) {
      const item = await items.update(rowKey(id, 'tenant', id), tenantCodec.patch({ policy }), { condition: exists('pk') })
      return item === null ? null : tenantCodec.decode(item)
    },
    async beginDeletion(id, now) {
      const key = rowKey(id, 'tenant', id)
      const deletion = { requestedAt: now, completedAt: null, removedRows: 0, removedObjects: 0 }
      const actions = [...tenantCodec.patch({ deletion }), set('dueShard', dueShard(key.pk)), set('dueAt', now + FIRST_PASS_MS)]
      const item = (await items.update(key, actions, { condition: all(exists('pk'), absent('deletion')) })) ?? (await items.get(key))
      return item === null ? null : tenantCodec.decode(item)
    },
    async noteDeletion(id, deletion, dueAt) {
      await items.update(rowKey(id, 'tenant', id), [...tenantCodec.patch({ deletion }), assign('dueAt', dueAt)], {
        condition: exists('deletion'),
      })
    },
    async noteExport(id, dueAt) {
      const key = rowKey(id, 'tenant', id)
      const actions = [set('dueShard', dueShard(key.pk)), assign('dueAt', dueAt)]
      return (await items.update(key, actions, { condition: all(exists('pk'), absent('deletion')) })) !== null
    },
    async putPlan(plan) {
      await items.put({ ...planCodec.encode(plan), ...planKey(plan.name), lpk: ALL_PLANS, lsk: plan.name })
    },
    async getPlan(name) {
      const item = await items.get(planKey(name))
      return item === null ? null : planCodec.decode(item)
    },
    async listPlans() {
      const rows = await items.getMany(await listed(items, equals('lpk', ALL_PLANS)))
      return rows.filter((item) => item !== null).map((item): Plan => planCodec.decode(item))
    },
    removePlan: async (name) => void (await items.delete(planKey(name))),
    ...createKeyVerbs(items),
  }
}

type KeyVerbs = Pick<TenantStore, 'putKey' | 'findKey' | 'getKey' | 'touchKey' | 'listKeys' | 'revokeKey'>

function createKeyVerbs(items: Items): KeyVerbs {
  const placesOf = (id: string): Promise<readonly ItemKey[]> => listed(items, all(equals('lpk', ALL_KEYS), equals('lsk', id)))
  const keyItem = async (id: string): Promise<Item | null> => {
    const [place] = await placesOf(id)
    return place === undefined ? null : items.get(place)
  }
  return {
    async putKey(key) {
      await items.put({ ...apiKeyCodec.encode(key), ...apiKeyKey(key.hash), lpk: ALL_KEYS, lsk: key.id })
    },
    async findKey(hash) {
      const item = await items.get(apiKeyKey(hash))
      return item === null ? null : apiKeyCodec.decode(item)
    },
    async getKey(id) {
      const item = await keyItem(id)
      return item === null ? null : apiKeyCodec.decode(item)
    },
    async touchKey(hash, now) {
      const isStale = any(absent('lastUsedAt'), atMost('lastUsedAt', now - LAST_USED_MS))
      await items.update(apiKeyKey(hash), [set('lastUsedAt', now)], { condition: all(exists('pk'), isStale) })
    },
    async listKeys() {
      const rows = await items.getMany(await listed(items, equals('lpk', ALL_KEYS)))
      return rows.filter((item) => item !== null).map((item): ApiKey => apiKeyCodec.decode(item))
    },
    async revokeKey(id, now) {
      const [place] = await placesOf(id)
      const item = place === undefined ? null : await items.update(place, [setOnce('revokedAt', now)], { condition: exists('pk') })
      return item === null ? null : apiKeyCodec.decode(item)
    },
  }
}

async function listed(items: Items, where: Condition): Promise<readonly ItemKey[]> {
  const keys: ItemKey[] = []
  let startKey: Item | undefined
  do {
    const page = await items.query({ index: 'list', where, startKey })
    keys.push(...page.items.map((item) => ({ pk: String(item['pk']), sk: String(item['sk']) })))
    startKey = page.lastKey
  } while (startKey !== undefined)
  return keys
}
