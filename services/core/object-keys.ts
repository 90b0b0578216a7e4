import { createHmac, randomBytes } from 'node:crypto'

const KINDS = ['files', 'outputs', 'notebooks', 'results', 'events', 'requests', 'snapshots', 'parts', 'items'] as const
export type ObjectKind = (typeof KINDS)[number]

/** A fresh key below its tenant and container (or response): random, so nobody can guess it and no name of a user is in it. */
export const newObjectKey = (tenant: string, kind: ObjectKind, parentId: string): string =>
  `${objectPrefix(tenant, parentId)}${kind}/${randomBytes(24).toString('base64url')}`

/** A key that every repetition of a step finds again, and that nobody can guess who does not know the secret. `name` tells it from others of its parent. */
export const derivedObjectKey = (tenant: string, kind: ObjectKind, parentId: string, secret: string, name: string): string =>
  `${objectPrefix(tenant, parentId)}${kind}/${createHmac('sha256', secret).update(name).digest().subarray(0, 24).toString('base64url')}`

/** Everything of one container, response, file, upload or conversation lies below this. */
export const objectPrefix = (tenant: string, parentId: string): string => `tenants/${tenant}/${parentId}/`
