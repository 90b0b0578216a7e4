import { BoundedCache } from '../model/bounded-cache.ts'
import { hashApiKey } from '../model/tenants/api-keys.ts'
import { ServiceError } from '../model/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { TenantStore } from '../ports/tenant-store.ts'
import type { VerifiedToken } from './verify-token.ts'
import { LAST_USED_MS, type ApiKey, type Caller } from '../model/tenants/tenant.ts'

const MAX_CACHED_KEYS = 1_000
const BEARER = /^Bearer ([\x21-\x7e]{1,8192})$/i

/** A JSON Web Token has three parts with dots between them; an API key has no dot. */
const isToken = (credential: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(credential)

/** The refusal of a request without a valid key. */
export const missingKeyError = (): ServiceError =>
  new ServiceError('invalid_api_key', 'The API key is missing or not valid. Send it as "Authorization: Bearer ck_…".')

/** Identifies the caller of a request. Throws ServiceError `invalid_api_key`. */
export type Authenticate = (request: Request) => Promise<Caller>

/** A request that carries this key as ours do. */
export const withKey = ({ url }: Request, key: string): Request => new Request(url, { headers: { authorization: `Bearer ${key}` } })

/**
 * Identifies the caller by the API key, or by a token of a configured issuer where `verifyToken` is given. A verified key is cached for `cacheMs` and never beyond its expiry, so a revoked key may work that much
 * longer. Unknown keys are not cached, so a new key works at once.
 */
export function createAuthenticator(
  {
    tenants,
    clock,
    verifyToken = null,
  }: {
    readonly tenants: Pick<TenantStore, 'findKey' | 'touchKey'>
    readonly clock: Clock
    readonly verifyToken?: ((token: string) => Promise<VerifiedToken | null>) | null
  },
  cacheMs: number,
): Authenticate {
  const known = new BoundedCache<string, Caller>(MAX_CACHED_KEYS)
  const reads = new Map<string, Promise<ApiKey | null>>()
  const readKey = async (hash: string, now: number): Promise<ApiKey | null> => {
    const found = await tenants.findKey(hash)
    if (found === null || found.revokedAt !== null || (found.expiresAt ?? Number.POSITIVE_INFINITY) <= now) return null
    // A failed write loses the time of use; the request proceeds.
    if ((found.lastUsedAt ?? 0) <= now - LAST_USED_MS) tenants.touchKey(hash, now).catch(() => undefined)
    return found
  }
  /** The key if it is valid. Requests at the same time share a read. */
  const validKey = (hash: string, now: number): Promise<ApiKey | null> => {
    const running = reads.get(hash)
    if (running !== undefined) return running
    const read = readKey(hash, now).finally(() => reads.delete(hash))
    reads.set(hash, read)
    return read
  }
  return async (request) => {
    const key = BEARER.exec(request.headers.get('authorization') ?? '')?.[1]
    if (key === undefined) throw missingKeyError()
    const hash = hashApiKey(key)
    const now = clock.now()
    const cached = known.get(hash, now)
    if (cached !== undefined) return cached
    const remember = (verified: Caller, expiresAt: number | null): Caller => {
      const caller = { ...verified, ...(expiresAt !== null && { expiresAt }) }
      known.set(hash, caller, Math.min(now + cacheMs, expiresAt ?? Number.POSITIVE_INFINITY))
      return caller
    }
    if (verifyToken !== null && isToken(key)) {
      const token = await verifyToken(key)
      if (token === null) throw missingKeyError()
      return remember(token.caller, token.expiresAt)
    }
    const found = await validKey(hash, now)
    if (found === null) throw missingKeyError()
    return remember({ tenant: found.tenant, subject: found.subject, keyId: found.id, scopes: found.scopes }, found.expiresAt)
  }
}
