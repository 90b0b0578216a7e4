import type { LinkStore } from '../../core/ports/table.ts'
import { exists, setOnce } from './expression.ts'
import type { Items } from './items.ts'
import { linkKey, rowKey } from './keys.ts'
import { linkCodec } from './row-shapes.ts'

/** A link is found by the hash of its token; a second item finds that hash by the link's id, for revoking it. */
export function createLinkStore(items: Items): LinkStore {
  return {
    async put(link) {
      const ttl = Math.ceil(link.expiresAt / 1000)
      await items.writeMany([
        { put: { ...linkCodec.encode(link), ...linkKey(link.tokenHash), ttl } },
        { put: { ...rowKey(link.tenant, 'link', link.id), tokenHash: link.tokenHash, ttl } },
      ])
    },
    async findByToken(tokenHash) {
      const item = await items.get(linkKey(tokenHash))
      return item === null ? null : linkCodec.decode(item)
    },
    async revoke(tenant, id, now) {
      const pointer = await items.get(rowKey(tenant, 'link', id))
      if (pointer === null) return null
      const item = await items.update(linkKey(String(pointer['tokenHash'])), [setOnce('revokedAt', now)], exists('pk'))
      return item === null ? null : linkCodec.decode(item)
    },
  }
}
