import { hashApiKey, newApiKey } from '../core/tenants/api-keys.ts'
import { newId } from '../core/ids.ts'
import type { TenantStore } from '../core/ports/tenant-store.ts'

const NAME = 'dev'

/** Makes sure that the wanted key, or a new one, opens the development tenant. Returns the key in the clear: it is printed once. */
export async function ensureDevTenant(tenants: TenantStore, wanted: string | null, now: number): Promise<string> {
  const key = wanted ?? newApiKey()
  const hash = hashApiKey(key)
  if ((await tenants.findKey(hash)) !== null) return key
  const known = (await tenants.list()).find((tenant) => tenant.name === NAME)
  const tenant = known ?? { v: 1 as const, id: newId('tenant'), name: NAME, createdAt: now }
  if (known === undefined) await tenants.create(tenant)
  await tenants.putKey({ v: 1, id: newId('key'), tenant: tenant.id, hash, subject: null, createdAt: now, revokedAt: null })
  return key
}
