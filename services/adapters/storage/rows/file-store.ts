import type { ContainerFile } from '../../../model/files/file.ts'
import type { FileStore } from '../../../ports/file-store.ts'
import { all, equals, exists, startsWith } from './expression.ts'
import type { Items } from './items.ts'
import { FILE_PREFIX, fileKey, listPartition, rowKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { fileCodec } from './row-shapes.ts'

const byAge = (a: ContainerFile, b: ContainerFile): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)

const byId = (tenant: string, id: string): string => listPartition(tenant, 'file', id)

/** Files are in their container's partition, so that one consistent query returns all. */
export function createFileStore(items: Items): FileStore {
  const get = async (tenant: string, containerId: string, id: string): Promise<ContainerFile | null> => {
    const item = await items.get(fileKey(tenant, containerId, id))
    return item === null ? null : fileCodec.decode(item)
  }

  return {
    async put(file) {
      const index = { lpk: byId(file.tenant, file.id), lsk: file.containerId }
      await items.put({ ...fileCodec.encode(file), ...fileKey(file.tenant, file.containerId, file.id), ...index })
    },
    get,
    async find(tenant, id) {
      const [key] = (await items.query({ index: 'list', where: equals('lpk', byId(tenant, id)), limit: 1 })).items
      return key === undefined ? null : get(tenant, String(key['lsk']), id)
    },
    async all(tenant, containerId) {
      const where = all(equals('pk', rowKey(tenant, 'container', containerId).pk), startsWith('sk', FILE_PREFIX))
      const files: ContainerFile[] = []
      let startKey: Item | undefined
      do {
        const page = await items.query({ where, startKey })
        for (const item of page.items) files.push(fileCodec.decode(item))
        startKey = page.lastKey
      } while (startKey !== undefined)
      return files.toSorted(byAge)
    },
    async patch({ tenant, containerId, id }, change) {
      const actions = fileCodec.patch(change)
      if (actions.length === 0) return get(tenant, containerId, id)
      const item = await items.update(fileKey(tenant, containerId, id), actions, { condition: exists('pk') })
      return item === null ? null : fileCodec.decode(item)
    },
    remove: async (tenant, containerId, id) => void (await items.delete(fileKey(tenant, containerId, id))),
  }
}
