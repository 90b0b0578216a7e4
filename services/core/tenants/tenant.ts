import type { TenantLimits } from './tenant-limits.ts'

/** Who is isolated, limited and billed. */
export interface Tenant {
  readonly v: 1
  readonly id: string
  readonly name: string
  readonly createdAt: number
  readonly policy?: TenantPolicy
}

/** What an operator decided for one tenant. What is not set is as LIMITS and the server's configuration have it. */
export interface TenantPolicy {
  /** Types of tools that this tenant's responses may not name, for example `web_search`. */
  readonly toolsOff?: readonly string[]
  /** Life of a `/d/…` link that is made from now on, days. */
  readonly linkDays?: number
  /** What it may use, where that differs from what everybody may. */
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
  /** The app's end user to which this key is bound, if any. */
  readonly subject: string | null
  readonly createdAt: number
  readonly revokedAt: number | null
}

/** Who is calling, taken from the verified key and from nothing else. */
export interface Caller {
  readonly tenant: string
  readonly subject: string | null
  readonly keyId: string
}
