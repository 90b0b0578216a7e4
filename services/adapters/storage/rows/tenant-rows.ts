import type { Extension } from '../../../model/containers/extension.ts'
import type { TenantRows } from '../../../ports/tenant-rows.ts'
import type { TenantStore } from '../../../ports/tenant-store.ts'
import type { ItemChange, Items, TenantPage } from './items.ts'
import { removalOf } from './meter-items.ts'
import { apiKeyKey, linkKey, parseRowKey, type RowName } from './keys.ts'
import { isIndexAttribute, type Item } from './row-codec.ts'

/** Rows that stay after a deletion: the report of it, and the audit log. */
const KEPT: ReadonlySet<string> = new Set<RowName>(['tenant', 'audit'])
/** Rows that contain secrets or only state of the service. */
const NOT_EXPORTED: ReadonlySet<string> = new Set<RowName>(['quota', 'idempotency', 'secret'])

export function createTenantRows(items: Items, tenants: Pick<TenantStore, 'listKeys'>): TenantRows {
  async function* pages(tenant: string, from: string | null): AsyncGenerator<TenantPage> {
    let cursor = from
    do {
      const page = await items.ofTenant(tenant, cursor)
      yield page
      cursor = page.cursor
    } while (cursor !== null)
  }

  async function removeKeys(tenant: string): Promise<number> {
    const keys = (await tenants.listKeys()).filter((key) => key.tenant === tenant)
    await items.writeMany(keys.map(({ hash }) => ({ delete: apiKeyKey(hash) })))
    return keys.length
  }

  return {
    async *export(tenant) {
      for await (const page of pages(tenant, null))
        for (const item of page.items) {
          const { name: kind, id } = parseRowKey(String(item['pk']))
          if (NOT_EXPORTED.has(kind)) continue
          const part = item['sk'] === 'row' ? null : String(item['sk'])
          yield { kind, id, part, fields: fieldsOf(item) }
        }
    },
    async remove(tenant, cursor, isOver) {
      let count = cursor === null ? await removeKeys(tenant) : 0
      for await (const { items: found, cursor: next } of pages(tenant, cursor)) {
        const gone = found.filter((item) => !KEPT.has(parseRowKey(String(item['pk'])).name))
        await items.writeMany(gone.flatMap(removals))
        count += gone.length
        if (next !== null && isOver()) return { count, cursor: next }
      }
      return { count, cursor: null }
    },
  }
}

/** A link is two items: the one that its token finds lies outside the tenant's rows. */
function removals(item: Item): readonly ItemChange[] {
  const { tokenHash } = item
  const own = removalOf(item)
  return typeof tokenHash === 'string' ? [{ delete: linkKey(tokenHash) }, own] : [own]
}

const fieldsOf = (item: Item): Item =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([name]) => !isIndexAttribute(name) && name !== 'tokenHash' && name !== 'lease')
      .map(([name, value]) => [name, typeof value === 'string' && /^[[{]/.test(value) ? parsed(value) : value])
      .map(([name, value]) => [name, name === 'extensions' ? withoutSecrets(value as Record<string, Extension>) : value]),
  )

const withoutSecrets = (extensions: Record<string, Extension>): unknown =>
  Object.fromEntries(
    Object.entries(extensions).map(([wire, extension]) => [
      wire,
      Object.fromEntries(Object.entries(extension).filter(([name]) => name !== 'secrets')),
    ]),
  )

/** Structured fields are stored as JSON text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
