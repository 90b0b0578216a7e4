import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { E2bGrant, E2bSession } from '../../model/containers/container.ts'
import { JWT_KEY_PREFIX, type Caller } from '../../model/tenants/tenant.ts'

/** Grants of one sandbox. With more, the one that connected least recently is dropped, and its client has to connect again. */
const MAX_GRANTS = 50

export const newRootSecret = (): string => randomBytes(24).toString('base64url')

/** The token of the data plane. It is derived, so that a key gets the same one at each connect, and two keys never share one. */
export const tokenOf = (rootSecret: string, { keyId, scopes, subject, expiresAt }: E2bGrant): string =>
  createHmac('sha256', rootSecret)
    .update(JSON.stringify([keyId, scopes, subject, expiresAt]))
    .digest('base64url')

export const grantFor = ({ keyId, scopes, subject, expiresAt }: Caller): E2bGrant => ({
  keyId,
  scopes,
  subject,
  expiresAt: expiresAt ?? null,
})

/** What a session keeps of its tokens. */
type Tokens = Pick<E2bSession, 'rootSecret' | 'grants' | 'secret' | 'key'>

/** The session with a grant. Expired grants are dropped, and the token that a session of an earlier version had. */
export function withGrant<Session extends Tokens>(
  { secret: _secret, key: _key, ...session }: Session,
  grant: E2bGrant,
  now: number,
): Omit<Session, 'secret' | 'key'> & Required<Pick<E2bSession, 'rootSecret' | 'grants'>> {
  const { rootSecret = newRootSecret(), grants = [] } = session
  const token = tokenOf(rootSecret, grant)
  const others = grants.filter((other) => !hasExpired(other, now) && tokenOf(rootSecret, other) !== token)
  return { ...session, rootSecret, grants: [...others, grant].slice(-MAX_GRANTS) }
}

/** The valid grant whose token passes the check; null for none. */
export function findGrant(session: Tokens, isToken: (token: string) => boolean, now: number): E2bGrant | null {
  const { rootSecret, grants = [], secret, key } = session
  if (rootSecret !== undefined) return grants.find((grant) => !hasExpired(grant, now) && isToken(tokenOf(rootSecret, grant))) ?? null
  // A session of an earlier version has one token. The expiry of a JSON Web Token that opened it is not known.
  if (secret === undefined || key === undefined || key.id.startsWith(JWT_KEY_PREFIX) || !isToken(secret)) return null
  return { keyId: key.id, scopes: key.scopes, subject: null, expiresAt: null }
}

const hasExpired = ({ expiresAt }: E2bGrant, now: number): boolean => expiresAt !== null && expiresAt <= now

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()
const isSame = (a: string, b: string): boolean => timingSafeEqual(digestOf(a), digestOf(b))

/**
 * The check of a token against what the request presents: the token in a header, or the signature of a file's URL that E2B's clients make from
 * the token, for one path, operation and user. Null when it presents neither.
 */
export function presentedBy(request: Request, now: number): ((token: string) => boolean) | null {
  const presented = request.headers.get('x-access-token') ?? request.headers.get('e2b-traffic-access-token')
  if (presented !== null) return (token) => isSame(presented, token)
  const { pathname, searchParams } = new URL(request.url)
  const signature = searchParams.get('signature')
  if (signature === null || !pathname.endsWith('/files')) return null
  const expires = searchParams.get('signature_expiration')
  if (expires !== null && (!/^\d{1,12}$/.test(expires) || Number(expires) * 1000 < now)) return null
  const path = searchParams.get('path') ?? ''
  const operation = request.method === 'GET' ? 'read' : 'write'
  const user = searchParams.get('username') ?? ''
  return (token) => {
    const signed = [path, operation, user, token, ...(expires === null ? [] : [expires])].join(':')
    return isSame(signature, `v1_${digestOf(signed).toString('base64').replace(/=+$/, '')}`)
  }
}
