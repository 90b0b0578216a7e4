import { createHash } from 'node:crypto'
import { createRemoteJWKSet, decodeJwt, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose'
import { ServiceError } from '../model/errors.ts'
import type { Clock } from '../ports/clock.ts'
import { DEFAULT_SCOPES, JWT_KEY_PREFIX, SCOPES, type Caller, type Scope } from '../model/tenants/tenant.ts'
import type { TokenIssuer } from './config.ts'

/** Asymmetric algorithms only: with a symmetric one the public key would be the secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const FETCH_TIMEOUT_MS = 5_000
/** Key sets are read again after this time, or earlier for an unknown key id, but not more often than once per cooldown, milliseconds. */
const KEYS_MAX_AGE_MS = 600_000
const KEYS_COOLDOWN_MS = 2_000
/** Tolerated clock difference, seconds. */
const CLOCK_TOLERANCE_SECONDS = 5

export interface VerifiedToken {
  readonly caller: Caller
  /** Epoch ms. */
  readonly expiresAt: number
}

/**
 * Verifies JSON Web Tokens of the configured issuers: signature, issuer, audience and times. Null for a token that is not valid. Throws ServiceError
 * `not_ready` when the issuer's keys cannot be read.
 */
export function createTokenVerifier(
  issuers: readonly TokenIssuer[],
  clock: Clock,
  hasTenant: (id: string) => Promise<boolean>,
): (token: string) => Promise<VerifiedToken | null> {
  const known = new Map(issuers.map((issuer) => [issuer.issuer, { issuer, keys: keySetOf(issuer) }]))
  return async (token) => {
    const found = known.get(issuerOf(token) ?? '')
    if (found === undefined) return null
    const payload = await verify(token, found.issuer, { keys: found.keys, currentDate: new Date(clock.now()) })
    if (payload === null) return null
    const caller = callerOf(payload, found.issuer)
    return caller !== null && (await hasTenant(caller.tenant)) ? { caller, expiresAt: (payload.exp ?? 0) * 1000 } : null
  }
}

const keySetOf = ({ jwksUrl }: TokenIssuer): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cooldownDuration: KEYS_COOLDOWN_MS,
    cacheMaxAge: KEYS_MAX_AGE_MS,
  })

function issuerOf(token: string): string | null {
  try {
    return decodeJwt(token).iss ?? null
  } catch {
    return null
  }
}

async function verify(
  token: string,
  { issuer, audience }: TokenIssuer,
  { keys, currentDate }: { readonly keys: JWTVerifyGetKey; readonly currentDate: Date },
): Promise<JWTPayload | null> {
  const rules = { issuer, audience, algorithms: ALGORITHMS, requiredClaims: ['exp'], clockTolerance: CLOCK_TOLERANCE_SECONDS, currentDate }
  try {
    return (await jwtVerify(token, keys, rules)).payload
  } catch (cause) {
    const isUnreachable =
      cause instanceof errors.JWKSTimeout || cause instanceof TypeError || (cause as { code?: string }).code === 'ERR_JOSE_GENERIC'
    if (isUnreachable)
      throw new ServiceError('not_ready', 'The keys of the token issuer cannot be read at present. Try again, or use an API key.', {
        cause,
      })
    if (cause instanceof errors.JOSEError) return null
    throw cause
  }
}

function callerOf(payload: JWTPayload, issuer: TokenIssuer): Caller | null {
  const tenant = issuer.tenant ?? textOf(payload, issuer.tenantClaim)
  const subject = issuer.subjectClaim === null ? null : textOf(payload, issuer.subjectClaim)
  // A token without its required end user must not see the whole tenant.
  if (tenant === null || (issuer.subjectClaim !== null && subject === null)) return null
  const digest = createHash('sha256')
    .update(JSON.stringify([payload.iss, payload.sub]))
    .digest('hex')
    .slice(0, 20)
  return { tenant, subject, keyId: `${JWT_KEY_PREFIX}${digest}`, scopes: scopesOf(payload, issuer) }
}

function textOf(payload: JWTPayload, claim: string): string | null {
  const value = payload[claim]
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : null
}

/** The token's scopes that this service has, as a string with spaces or a list. `admin` only from an issuer that may grant it. */
function scopesOf(payload: JWTPayload, { scopesClaim, mayAdminister }: TokenIssuer): readonly Scope[] {
  if (scopesClaim === null) return DEFAULT_SCOPES
  const value = payload[scopesClaim]
  const names: readonly unknown[] = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : []
  return SCOPES.filter((scope) => names.includes(scope) && (scope !== 'admin' || mayAdminister))
}
