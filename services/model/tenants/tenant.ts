import type { NetworkCeiling, NetworkPolicy } from '../network/policy.ts'
import type { TenantLimits } from './tenant-limits.ts'

/** The unit of isolation, limits and billing. */
export interface Tenant {
  readonly v: 1
  readonly id: string
  readonly name: string
  readonly createdAt: number
  readonly policy?: TenantPolicy
  /** Present once an operator has deleted the tenant: it has no keys from then on. The row stays as the report. */
  readonly deletion?: TenantDeletion
}

/** Times are epoch ms. */
export interface TenantDeletion {
  readonly requestedAt: number
  /** Null while rows or objects may remain. */
  readonly completedAt: number | null
  readonly removedRows: number
  readonly removedObjects: number
  /** The search through the table, until it reaches the end: where it continues, and how many rows it has removed. */
  readonly search?: { readonly cursor: string; readonly removed: number }
}

/** An operator's settings for one tenant. Defaults come from LIMITS and the server's configuration. */
export interface TenantPolicy {
  /** Types of tools that this tenant's responses may not name, for example `web_search`. */
  readonly toolsOff?: readonly string[]
  /** Lifetime of new `/d/…` links, days. */
  readonly linkDays?: number
  /** Name of the plan whose limits apply where `limits` sets none. */
  readonly plan?: string
  /** Name of the image of containers that name none. */
  readonly image?: string
  /** What its containers may reach; absent: nothing. */
  readonly network?: TenantNetwork
  /** Limits that differ from the defaults and from the plan. */
  readonly limits?: Partial<TenantLimits>
}

/** The ceiling of every container's policy, and the policy of containers for which a client requests none. */
export interface TenantNetwork {
  readonly ceiling: NetworkCeiling
  /** Absent: no network. */
  readonly default?: NetworkPolicy
}

/** A named set of limits for many tenants. */
export interface Plan {
  readonly v: 1
  /** Lower-case letters, digits and hyphens. */
  readonly name: string
  readonly limits: Partial<TenantLimits>
  readonly createdAt: number
}

/** Bounds of `linkDays`. */
export const LINK_DAYS = { min: 1, max: 365 } as const

/** An API key. The key itself is shown once at its creation; only its SHA-256 (hex) is stored. */
export interface ApiKey {
  readonly v: 1
  readonly id: string
  readonly tenant: string
  readonly hash: string
  /** A label that an operator chose; null for none. */
  readonly name: string | null
  /** The end user to which this key is bound, if any. */
  readonly subject: string | null
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  /** The key is refused from this time on, epoch ms; null for no expiry. */
  readonly expiresAt: number | null
  /** Accurate to LAST_USED_MS; null for a key that was never used. */
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
}

/**
 * What a key may do. `run`: execute code, take turns, change containers and conversations. `read`: read everything but the bytes of files.
 * `files`: upload, download, delete and link files. `share`: publish a conversation by a link. `secrets`: store and delete secrets for requests of code.
 * `admin`: administer every tenant under `/v1/admin`.
 */
export const SCOPES = ['run', 'read', 'files', 'share', 'secrets', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Scopes of a key that was created without any, and of keys from versions without scopes. */
export const DEFAULT_SCOPES: readonly Scope[] = ['run', 'read', 'files', 'share']

/** The time of a key's last use is written at most once in this time, milliseconds. */
export const LAST_USED_MS = 300_000

/** The authenticated caller, derived from the verified key only. */
export interface Caller {
  readonly tenant: string
  readonly subject: string | null
  readonly keyId: string
  readonly scopes: readonly Scope[]
  /** End of the credential's validity, epoch ms; absent for none. */
  readonly expiresAt?: number
}

/** Begins the `keyId` of a caller with a JSON Web Token, of which nothing is stored. */
export const JWT_KEY_PREFIX = 'jwt_'
