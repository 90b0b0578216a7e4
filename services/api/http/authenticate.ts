import { hashApiKey } from '../../core/tenants/api-keys.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { TenantStore } from '../../core/ports/tenant-store.ts'
import type { Caller } from '../../core/tenants/tenant.ts'

const MAX_CACHED_KEYS = 1_000
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i

const refused = (): ServiceError =>
  new ServiceError('invalid_api_key', 'The API key is missing or not valid. Send it as "Authorization: Bearer ck_…".')

/**
 * Says who calls, by the key alone. Keys that were found are kept for `cacheMs`, so a revoked key may work that much longer;
 * keys that were not found are never kept, so a new key works at once.
 */
export function createAuthenticator(
  tenants: Pick<TenantStore, 'findKey'>,
  clock: Clock,
  cacheMs: number,
): (request: Request) => Promise<Caller> {
  const known = new Map<string, { readonly caller: Caller; readonly until: number }>()
  return async (request) => {
    const key = BEARER.exec(request.headers.get('authorization') ?? '')?.[1]
    if (key === undefined) throw refused()
    const hash = hashApiKey(key)
    const now = clock.now()
    const cached = known.get(hash)
    if (cached !== undefined && cached.until > now) return cached.caller
    const found = await tenants.findKey(hash)
    if (found === null || found.revokedAt !== null) {
      known.delete(hash)
      throw refused()
    }
    const caller: Caller = { tenant: found.tenant, subject: found.subject, keyId: found.id }
    if (known.size >= MAX_CACHED_KEYS) known.delete(known.keys().next().value ?? hash)
    known.set(hash, { caller, until: now + cacheMs })
    return caller
  }
}
