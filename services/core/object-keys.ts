import { randomBytes } from 'node:crypto'

const KINDS = ['files', 'outputs', 'notebooks', 'results', 'events', 'requests', 'snapshots', 'parts', 'items'] as const
export type ObjectKind = (typeof KINDS)[number]

/** A fresh key below its tenant and container (or response): random, so nobody can guess it and no name of a user is in it. */
export const newObjectKey = (tenant: string, kind: ObjectKind, parentId: string): string =>
  `${objectPrefix(tenant, parentId)}${kind}/${randomBytes(24).toString('base64url')}`

/** Everything of one container, response, file, upload or conversation lies below this. */
export const objectPrefix = (tenant: string, parentId: string): string => `tenants/${tenant}/${parentId}/`
