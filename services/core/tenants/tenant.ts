import type { TenantLimits } from './tenant-limits.ts'

/** The unit of isolation, limits and billing. */
export interface Tenant {
  readonly v: 1
  readonly id: string
  readonly name: string
  readonly createdAt: number
  readonly policy?: TenantPolicy
}

/** An operator's settings for one tenant. Defaults come from LIMITS and the server's configuration. */
export interface TenantPolicy {
  /** Types of tools that this tenant's responses may not name, for example `web_search`. */
  readonly toolsOff?: readonly string[]
  /** Lifetime of new `/d/…` links, days. */
  readonly linkDays?: number
  /** Limits that differ from the defaults. */
  readonly limits?: Partial<TenantLimits>
}

/** Bounds of `linkDays`. */
export const LINK_DAYS = { min: 1, max: 365 } as const

/** An API key. The key itself is shown once at its creation; only its SHA-256 (hex) is stored. */
export interface ApiKey {
  readonly v: 1
  readonly id: string
  readonly tenant: string
  readonly hash: string
  /** The end user to which this key is bound, if any. */
  readonly subject: string | null
  readonly createdAt: number
  readonly revokedAt: number | null
}

/** The authenticated caller, derived from the verified key only. */
export interface Caller {
  readonly tenant: string
  readonly subject: string | null
  readonly keyId: string
}
