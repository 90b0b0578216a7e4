import { newId } from '../../model/ids.ts'
import type { TenantStore } from '../../ports/tenant-store.ts'
import { apiKeyRow, hashApiKey, newApiKey, type NewApiKey } from '../../model/tenants/api-keys.ts'

/** Ensures that the configured key, or a new one, belongs to the development tenant. Returns the key in clear text, which is printed once. */
export async function ensureDevTenant(tenants: TenantStore, wanted: string | null, now: number): Promise<string> {
  const key = wanted ?? newApiKey()
  await ensureKey(tenants, { name: 'dev', key, options: {}, now })
  return key
}

/**
 * Ensures that the configured key, or at the first start or deployment a new one, administers all tenants. Returns a new key, which is shown
 * once; null when one exists.
 */
export async function ensureAdminKey(tenants: TenantStore, wanted: string | null, now: number): Promise<string | null> {
  if (wanted === null && (await tenants.listKeys()).some((key) => key.scopes.includes('admin') && key.revokedAt === null)) return null
  const key = wanted ?? newApiKey()
  await ensureKey(tenants, { name: 'operator', key, options: { name: 'first admin key', scopes: ['admin'] }, now })
  return key
}

async function ensureKey(
  tenants: TenantStore,
  {
    name,
    key,
    options,
    now,
  }: { readonly name: string; readonly key: string; readonly options: Omit<NewApiKey, 'tenant'>; readonly now: number },
): Promise<void> {
  if ((await tenants.findKey(hashApiKey(key))) !== null) return
  const known = (await tenants.list()).find((tenant) => tenant.name === name)
  const tenant = known ?? { v: 1 as const, id: newId('tenant'), name, createdAt: now }
  if (known === undefined) await tenants.create(tenant)
  await tenants.putKey(apiKeyRow(key, { tenant: tenant.id, ...options }, now))
}
