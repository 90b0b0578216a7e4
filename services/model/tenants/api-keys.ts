import { createHash, randomBytes } from 'node:crypto'
import { newId } from '../ids.ts'
import { DEFAULT_SCOPES, type ApiKey } from './tenant.ts'

/** Shown once; only `hashApiKey` of it is stored. 256 random bits, so a plain hash is enough. */
export const newApiKey = (): string => `ck_${randomBytes(32).toString('base64url')}`
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex')

export type NewApiKey = Pick<ApiKey, 'tenant'> & Partial<Pick<ApiKey, 'name' | 'subject' | 'scopes' | 'expiresAt'>>

/** The row of a new key. `secret` is the key itself, from `newApiKey` or chosen by the operator. */
export const apiKeyRow = (secret: string, { tenant, name, subject, scopes, expiresAt }: NewApiKey, now: number): ApiKey => ({
  v: 1,
  id: newId('key'),
  tenant,
  hash: hashApiKey(secret),
  name: name ?? null,
  subject: subject ?? null,
  scopes: scopes ?? DEFAULT_SCOPES,
  createdAt: now,
  expiresAt: expiresAt ?? null,
  lastUsedAt: null,
  revokedAt: null,
})
