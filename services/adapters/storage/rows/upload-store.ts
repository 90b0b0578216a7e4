import type { UploadStore } from '../../../ports/upload-store.ts'
import type { UploadPart } from '../../../model/files/upload.ts'
import { all, equals, set, startsWith } from './expression.ts'
import type { Items } from './items.ts'
import { dueShard, PART_PREFIX, partKey, rowKey } from './keys.ts'
import { removalOf } from './meter-items.ts'
import type { Item } from './row-codec.ts'
import { uploadCodec, uploadPartCodec } from './row-shapes.ts'

const keyOf = (tenant: string, id: string) => rowKey(tenant, 'upload', id)

/** An upload's parts are in its partition, so that one consistent query returns all. An upload is due when it no longer accepts parts. */
export function createUploadStore(items: Items): UploadStore {
  const partItems = async (tenant: string, uploadId: string): Promise<readonly Item[]> => {
    const where = all(equals('pk', keyOf(tenant, uploadId).pk), startsWith('sk', PART_PREFIX))
    const found: Item[] = []
    let startKey: Item | undefined
    do {
      const page = await items.query({ where, startKey })
      found.push(...page.items)
      startKey = page.lastKey
    } while (startKey !== undefined)
    return found
  }

  return {
    async create(upload) {
      const key = keyOf(upload.tenant, upload.id)
      await items.put({ ...uploadCodec.encode(upload), ...key, dueShard: dueShard(key.pk), dueAt: upload.expiresAt })
    },
    async get(tenant, id) {
      const item = await items.get(keyOf(tenant, id))
      return item === null ? null : uploadCodec.decode(item)
    },
    async addPart(part) {
      await items.put({ ...uploadPartCodec.encode(part), ...partKey(part.tenant, part.uploadId, part.id) })
    },
    async parts(tenant, uploadId): Promise<readonly UploadPart[]> {
      const found = (await partItems(tenant, uploadId)).map((item) => uploadPartCodec.decode(item))
      return found.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    },
    async end(tenant, id, status) {
      const item = await items.update(keyOf(tenant, id), [set('status', status)], { condition: equals('status', 'pending') })
      return item === null ? null : uploadCodec.decode(item)
    },
    async remove(tenant, id) {
      await items.writeMany((await partItems(tenant, id)).map(removalOf))
      await items.delete(keyOf(tenant, id))
    },
  }
}
