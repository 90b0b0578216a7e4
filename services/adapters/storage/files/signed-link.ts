import { createHmac, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '../../../model/limits.ts'

/** The path on the API's own port below which signed links are served. */
export const OBJECTS_PATH = '/objects'

/** What the holder of a link may do, all of it signed. */
export type LinkClaims = {
  readonly key: string
  readonly contentType: string
  /** Epoch ms. */
  readonly expiresAt: number
} & ({ readonly method: 'GET'; readonly disposition: string } | { readonly method: 'PUT'; readonly bytes: number })

export type LinkRefusal = 'malformed' | 'bad_signature' | 'expired'

/** A key of 1,024 bytes and a long file name fit, percent-encoding included. */
const TOKEN = /^([A-Za-z0-9_-]{1,16384})\.([A-Za-z0-9_-]{43})$/

/** `payload.signature`: JSON claims as base64url, and HMAC-SHA-256 over exactly these characters. */
export function signLink(claims: LinkClaims, secret: Uint8Array): string {
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${payload}.${signatureOf(payload, secret)}`
}

export function verifyLink(
  token: string,
  secret: Uint8Array,
  now: number,
): { readonly claims: LinkClaims } | { readonly refusal: LinkRefusal } {
  const [, payload, signature] = TOKEN.exec(token) ?? []
  if (payload === undefined || signature === undefined) return { refusal: 'malformed' }
  // Compared as text: two spellings of base64url can decode to the same bytes.
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(payload, secret)))) return { refusal: 'bad_signature' }
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as LinkClaims
  // A clock that was set back must not extend a link.
  const isAlive = now < claims.expiresAt && claims.expiresAt - now <= LIMITS.presignedSeconds * 1000
  return isAlive ? { claims } : { refusal: 'expired' }
}

const signatureOf = (payload: string, secret: Uint8Array): string =>
  createHmac('sha256', secret).update(`cellblock-object-link.v1.${payload}`).digest('base64url')
