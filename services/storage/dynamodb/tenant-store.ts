import type { TenantStore } from '../../core/ports/table.ts'
import type { Tenant } from '../../core/tenant.ts'
import { absent, equals } from './expression.ts'
import type { Items } from './items.ts'
import { apiKeyKey, listSortKey, rowKey, type ItemKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { apiKeyCodec, tenantCodec } from './row-shapes.ts'

/** Not below a tenant: this list is for operators. */
const ALL_TENANTS = 'G#tenants'

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
      const keys: ItemKey[] = []
      let startKey: Item | undefined
      do {
        const page = await items.query({ index: 'list', where: equals('lpk', ALL_TENANTS), startKey })
        keys.push(...page.items.map((item) => ({ pk: String(item['pk']), sk: String(item['sk']) })))
        startKey = page.lastKey
      } while (startKey !== undefined)
      const rows = await items.getMany(keys)
      return rows.filter((item) => item !== null).map((item): Tenant => tenantCodec.decode(item))
    },
    async putKey(key) {
      await items.put({ ...apiKeyCodec.encode(key), ...apiKeyKey(key.hash) })
    },
    async findKey(hash) {
      const item = await items.get(apiKeyKey(hash))
      return item === null ? null : apiKeyCodec.decode(item)
    },
  }
}
