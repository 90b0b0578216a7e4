import { createHash, randomBytes } from 'node:crypto'
import { newId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { Link, LinkTarget } from '../../model/links/link.ts'
import type { LinkStore } from '../../ports/link-store.ts'
import type { TenantStore } from '../../ports/tenant-store.ts'

export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Creates a `/d/{token}` link that outlives presigned URLs and can be revoked. Returns the absolute URL; the token is stored only as a hash. */
export async function createLink(
  links: LinkStore,
  wanted: {
    readonly tenant: string
    readonly containerId: string
    readonly fileId: string | null
    readonly target: LinkTarget
    readonly publicUrl: string
    readonly days: number
  },
  now: number,
): Promise<{ readonly id: string; readonly url: string }> {
  const token = randomBytes(32).toString('base64url')
  const link: Link = {
    v: 1,
    id: newId('link'),
    tenant: wanted.tenant,
    tokenHash: hashToken(token),
    containerId: wanted.containerId,
    fileId: wanted.fileId,
    target: wanted.target,
    createdAt: now,
    expiresAt: now + wanted.days * 86_400_000,
    revokedAt: null,
  }
  await links.put(link)
  return { id: link.id, url: `${wanted.publicUrl}/d/${token}` }
}

/** Lifetime of new links by the tenant's policy, days. */
export const linkDaysOf = async (tenants: Pick<TenantStore, 'get'>, tenant: string): Promise<number> =>
  (await tenants.get(tenant))?.policy?.linkDays ?? LIMITS.linkDays
