import { createHash, randomBytes } from 'node:crypto'

/** Shown once; only `hashApiKey` of it is stored. 256 random bits, so a plain hash is enough. */
export const newApiKey = (): string => `ck_${randomBytes(32).toString('base64url')}`
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex')
