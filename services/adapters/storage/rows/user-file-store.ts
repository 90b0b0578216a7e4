import type { UserFileStore } from '../../../ports/user-file-store.ts'
import type { UserFile } from '../../../model/files/user-file.ts'
import { firstRetentionCheck } from '../../../model/tenants/retention.ts'
import { absent } from './expression.ts'
import type { Items } from './items.ts'
import { dueShard, listPartition, listSortKey, rowKey } from './keys.ts'
import { listPage, placeOf } from './list-page.ts'
import { userFileCodec } from './row-shapes.ts'

const keyOf = (tenant: string, id: string) => rowKey(tenant, 'file', id)

/** Files of a tenant by time of creation. A file is due at its expiry or when its retention is checked. */
export function createUserFileStore(items: Items): UserFileStore {
  const get = async (tenant: string, id: string): Promise<UserFile | null> => {
    const item = await items.get(keyOf(tenant, id))
    return item === null ? null : userFileCodec.decode(item)
  }

  return {
    create(file) {
      const key = keyOf(file.tenant, file.id)
      const list = { lpk: listPartition(file.tenant, 'files'), lsk: listSortKey(file.createdAt, file.id) }
      const dueAt = Math.min(file.expiresAt ?? Infinity, firstRetentionCheck(file.createdAt))
      const due = { dueShard: dueShard(key.pk), dueAt }
      return items.put({ ...userFileCodec.encode(file), ...key, ...list, ...due }, absent('pk'))
    },
    get,
    async list(tenant, page) {
      const after = page.after === null ? null : placeOf('file', page.after, await get(tenant, page.after))
      if (page.after !== null && after === null) return { rows: [], hasMore: false }
      return listPage(items, userFileCodec, { partition: listPartition(tenant, 'files'), after, page })
    },
    remove: async (tenant, id) => void (await items.delete(keyOf(tenant, id))),
  }
}
