import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NAME = 'cellblock_session'
/** A session ends after this time, seconds. */
const SESSION_SECONDS = 7 * 24 * 60 * 60
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const MAX_COOKIE_CHARACTERS = 4_096

/** The encrypted content of a session cookie: the API key that signed in, and the end of the session. */
export interface Session {
  /** Random, another one for each sign-in. */
  readonly id: string
  readonly apiKey: string
  /** Epoch ms. */
  readonly expiresAt: number
}

export const newSession = (apiKey: string, now: number): Omit<Session, 'id'> => ({ apiKey, expiresAt: now + SESSION_SECONDS * 1000 })

/** Encrypts and authenticates a session with a secret of 32 bytes. */
export function sealSession(session: Omit<Session, 'id'>, secret: Uint8Array): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, secret, nonce)
  const sealed = Buffer.concat([cipher.update(JSON.stringify([session.apiKey, session.expiresAt])), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** Null for a value that was not sealed with this secret, or that has expired. */
export function openSession(value: string, secret: Uint8Array, now: number): Session | null {
  const bytes = Buffer.from(value, 'base64url')
  if (value.length > MAX_COOKIE_CHARACTERS || bytes.length <= NONCE_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv(CIPHER, secret, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString()
    const [apiKey, expiresAt] = JSON.parse(text) as [string, number]
    // Each sealing has another nonce.
    const id = bytes.subarray(0, NONCE_BYTES).toString('base64url')
    return expiresAt > now ? { id, apiKey, expiresAt } : null
  } catch {
    return null
  }
}

/** The value of the session cookie, or null. */
export function sessionCookieOf(request: Pick<Request, 'headers'>): string | null {
  const cookies = request.headers.get('cookie') ?? ''
  return new RegExp(`(?:^|;\\s*)${NAME}=([A-Za-z0-9_-]+)(?:;|$)`).exec(cookies)?.[1] ?? null
}

/** `Set-Cookie` for a sealed session; an empty value ends the session. Scripts cannot read it, and other sites' requests do not carry it. */
export const setCookie = (value: string, isHttps: boolean): string =>
  `${NAME}=${value}; Path=/; Max-Age=${value === '' ? 0 : SESSION_SECONDS}; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}`
