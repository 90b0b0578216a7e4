import type { LinkStore } from '../../../ports/link-store.ts'
import { equals, exists, setOnce } from './expression.ts'
import type { Items } from './items.ts'
import { linkKey, listPartition, listSortKey, rowKey } from './keys.ts'
import type { Item } from './row-codec.ts'
import { linkCodec } from './row-shapes.ts'

/** A link is found by the hash of its token; a second item finds that hash by the link's id, or by the file that it shows. */
export function createLinkStore(items: Items): LinkStore {
  const decode = (item: Item | null) => (item === null ? null : linkCodec.decode(item))
  const hashOf = (pointer: Item): string => String(pointer['tokenHash'])

  return {
    async put(link) {
      const ttl = Math.ceil(link.expiresAt / 1000)
      const index =
        link.fileId === null ? {} : { lpk: listPartition(link.tenant, 'links', link.fileId), lsk: listSortKey(link.createdAt, link.id) }
      await items.writeMany([
        { put: { ...linkCodec.encode(link), ...linkKey(link.tokenHash), ttl } },
        { put: { ...rowKey(link.tenant, 'link', link.id), ...index, tokenHash: link.tokenHash, ttl } },
      ])
    },
    findByToken: async (tokenHash) => decode(await items.get(linkKey(tokenHash))),
    async get(tenant, id) {
      const pointer = await items.get(rowKey(tenant, 'link', id))
      return pointer === null ? null : decode(await items.get(linkKey(hashOf(pointer))))
    },
    async ofFile(tenant, fileId) {
      const pointers: Item[] = []
      let startKey: Item | undefined
      do {
        const page = await items.query({ index: 'list', where: equals('lpk', listPartition(tenant, 'links', fileId)), startKey })
        pointers.push(...page.items)
        startKey = page.lastKey
      } while (startKey !== undefined)
      const found = await items.getMany(pointers.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })))
      const links = await items.getMany(found.flatMap((pointer) => (pointer === null ? [] : [linkKey(hashOf(pointer))])))
      return links.flatMap((item) => (item === null ? [] : [linkCodec.decode(item)]))
    },
    async revoke(tenant, id, now) {
      const pointer = await items.get(rowKey(tenant, 'link', id))
      if (pointer === null) return null
      return decode(await items.update(linkKey(hashOf(pointer)), [setOnce('revokedAt', now)], { condition: exists('pk') }))
    },
  }
}
