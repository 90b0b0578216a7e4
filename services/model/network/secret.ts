import { createHash } from 'node:crypto'
import { isEmptyPolicy, NO_NETWORK, type NetworkPolicy } from './policy.ts'

/** A value that the gateway puts into requests, and that no answer contains. Times are epoch ms. */
export interface StoredSecret {
  readonly v: 1
  readonly tenant: string
  /** `SHARED` for a secret of the tenant; else the id of the container, or of the response that is going to give it to a container. */
  readonly owner: string
  /** Only containers of the same end user get it; null: only containers of the tenant itself. */
  readonly subject: string | null
  readonly name: string
  /** Patterns of the hosts that may receive it. */
  readonly hosts: readonly string[]
  /** Encrypted. It can be decrypted for this tenant and this name only. */
  readonly sealed: string
  readonly createdAt: number
  readonly updatedAt: number
  /** Accurate to LAST_USED_MS; null for a secret that was never sent. */
  readonly lastUsedAt: number | null
}

export const SHARED = 'tenant'

/** A secret as a caller gives it. */
export interface NewSecret {
  readonly name: string
  readonly hosts: readonly string[]
  readonly value: string
}

export const SECRET_BOUNDS = {
  /** Secrets of a tenant. Those of one container are bounded by its policy. */
  perTenant: 100,
  valueLength: 8 * 1024,
  hosts: 20,
} as const

/** What the encryption of a value is bound to. */
export const secretContext = ({ tenant, name }: Pick<StoredSecret, 'tenant' | 'name'>): string => `${tenant}/${name}`

/** What code sees. It stays the same while the container lives, so that variables with it survive hibernation. */
export function placeholderOf(containerId: string, name: string): string {
  const digest = createHash('sha256').update(`${containerId}/${name}`).digest('hex')
  return `cellblock-secret-${name}-${digest.slice(0, 16)}`
}

/** A container, as far as its policy. */
interface WithPolicy {
  readonly network?: NetworkPolicy
}

export const policyOf = ({ network }: WithPolicy): NetworkPolicy => network ?? NO_NETWORK
export const hasNetwork = (container: WithPolicy): boolean => !isEmptyPolicy(policyOf(container))

/** Names of the secrets that a policy uses. */
export const secretNamesOf = ({ allow, secrets = [] }: NetworkPolicy): readonly string[] => [
  ...new Set([...secrets, ...allow.flatMap(({ inject = [] }) => inject.map(({ secret }) => secret))]),
]

/** Variables of every execution and command in the container. */
export const placeholdersOf = (container: WithPolicy & { readonly id: string }): Readonly<Record<string, string>> =>
  Object.fromEntries((policyOf(container).secrets ?? []).map((name) => [name, placeholderOf(container.id, name)]))
