import { createHmac, randomBytes } from 'node:crypto'

const KINDS = ['files', 'outputs', 'notebooks', 'results', 'events', 'requests', 'snapshots', 'parts', 'items', 'skills'] as const
export type ObjectKind = (typeof KINDS)[number]

/** A new random key below its tenant and container (or response). It cannot be guessed and contains no user-supplied name. */
export const newObjectKey = (tenant: string, kind: ObjectKind, parentId: string): string =>
  `${objectPrefix(tenant, parentId)}${kind}/${randomBytes(24).toString('base64url')}`

/** A deterministic key, so that a repeated step computes the same one. It cannot be guessed without the secret. `name` is unique within the parent. */
export const derivedObjectKey = (
  secret: string,
  {
    tenant,
    kind,
    parentId,
    name,
  }: { readonly tenant: string; readonly kind: ObjectKind; readonly parentId: string; readonly name: string },
): string =>
  `${objectPrefix(tenant, parentId)}${kind}/${createHmac('sha256', secret).update(name).digest().subarray(0, 24).toString('base64url')}`

/** The prefix of all objects of a tenant. */
export const tenantObjects = (tenant: string): string => `tenants/${tenant}/`

/** Exports that an operator made of a tenant. They are the operator's: outside of the tenant's objects, so they do not count as its storage. */
export const tenantExports = (tenant: string): string => `exports/${tenant}/`
export const newTenantExportKey = (tenant: string): string => `${tenantExports(tenant)}${randomBytes(24).toString('base64url')}`

/** The tenant of an object; null for a key outside tenants. */
export const tenantOfKey = (key: string): string | null => /^tenants\/([^/]+)\//.exec(key)?.[1] ?? null

/** The prefix of all objects of one container, response, file, upload or conversation. */
export const objectPrefix = (tenant: string, parentId: string): string => `${tenantObjects(tenant)}${parentId}/`
