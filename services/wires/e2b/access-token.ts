import { createHash, createHmac, randomBytes } from 'node:crypto'
import { isSameSecret } from '../../model/same-secret.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import type { Grant, Session } from './session.ts'

/** Grants of one sandbox. With more, the one that connected least recently is dropped, and its client has to connect again. */
const MAX_GRANTS = 50

/** The name of an operating system's user, or none. */
export const USER_NAME = /^(?:[a-z_][a-z0-9_-]{0,31})?$/

export const newRootSecret = (): string => randomBytes(24).toString('base64url')

/** The token of the data plane. It is derived, so that a key gets the same one at each connect, and two keys never share one. */
export const tokenOf = (rootSecret: string, { keyId, scopes, subject, expiresAt }: Grant): string =>
  createHmac('sha256', rootSecret)
    .update(JSON.stringify([keyId, scopes, subject, expiresAt]))
    .digest('base64url')

export const grantFor = ({ keyId, scopes, subject, expiresAt }: Caller): Grant => ({
  keyId,
  scopes,
  subject,
  expiresAt: expiresAt ?? null,
})

/** The session with a grant. Expired grants are dropped. */
export function withGrant(session: Session, grant: Grant, now: number): Session {
  const { root } = session.secrets
  const token = tokenOf(root, grant)
  const others = session.grants.filter((other) => !hasExpired(other, now) && tokenOf(root, other) !== token)
  return { ...session, grants: [...others, grant].slice(-MAX_GRANTS) }
}

/** The valid grant whose token passes the check; null for none. */
export const findGrant = ({ secrets, grants }: Session, isToken: (token: string) => boolean, now: number): Grant | null =>
  grants.find((grant) => !hasExpired(grant, now) && isToken(tokenOf(secrets.root, grant))) ?? null

const hasExpired = ({ expiresAt }: Grant, now: number): boolean => expiresAt !== null && expiresAt <= now

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

const expiryOf = (params: URLSearchParams): string | null => params.get('signature_expiration')
const isOver = (expires: string, now: number): boolean => !/^\d{1,12}$/.test(expires) || Number(expires) * 1000 < now

/** Whether the request presents nothing but a signature whose time is over. */
export function hasExpiredSignature(request: Request, now: number): boolean {
  const { searchParams } = new URL(request.url)
  const expires = expiryOf(searchParams)
  return presentedToken(request) === null && searchParams.has('signature') && expires !== null && isOver(expires, now)
}

const presentedToken = ({ headers }: Request): string | null => headers.get('x-access-token') ?? headers.get('e2b-traffic-access-token')

/**
 * The check of a token against what the request presents: the token in a header, or the signature of a file's URL that E2B's clients make from
 * the token, for one path, operation and user. Null when it presents neither.
 */
export function presentedBy(request: Request, now: number): ((token: string) => boolean) | null {
  const presented = presentedToken(request)
  if (presented !== null) return (token) => isSameSecret(presented, token)
  const { pathname, searchParams } = new URL(request.url)
  const signature = searchParams.get('signature')
  if (signature === null || !pathname.endsWith('/files')) return null
  const expires = expiryOf(searchParams)
  if (expires !== null && isOver(expires, now)) return null
  const path = searchParams.get('path') ?? ''
  const operation = request.method === 'GET' ? 'read' : 'write'
  const user = searchParams.get('username') ?? ''
  // The signed text has colons between its parts: another user name could shift one of them into the path.
  if (!USER_NAME.test(user)) return null
  return (token) => {
    const signed = [path, operation, user, token, ...(expires === null ? [] : [expires])].join(':')
    return isSameSecret(signature, `v1_${digestOf(signed).toString('base64').replace(/=+$/, '')}`)
  }
}
