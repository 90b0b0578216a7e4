import { ServiceError } from '../../model/errors.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import type { Clock } from '../../ports/clock.ts'
import { missingKeyError, withKey, type Authenticate } from '../authenticate.ts'
import type { PagePorts } from '../page-ports.ts'
import type { EndedSessions } from './ended-sessions.ts'
import { openSession, sessionCookieOf, type Session } from './session-cookie.ts'

/** The page sends this header; a form or a link of another site cannot. */
export const PAGE_HEADER = 'x-cellblock-page'

export interface SessionPorts {
  readonly page: PagePorts
  readonly clock: Clock
  readonly ended: EndedSessions
  /** By API key. */
  readonly authenticate: Authenticate
}

/**
 * Also accepts the session cookie of the page, where a request has no `Authorization` header. The cookie contains the API key that signed in, so a
 * revoked key ends its sessions. A request that changes anything must carry the page's header: browsers let no foreign page send it.
 */
export const acceptSessions =
  (ports: SessionPorts): Authenticate =>
  async (request) => {
    const session = request.headers.has('authorization') ? null : await sessionOf(request, ports)
    if (session === null) return ports.authenticate(request)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead && request.headers.get(PAGE_HEADER) === null)
      throw new ServiceError(
        'origin_not_allowed',
        `A request with a session cookie needs the header ${PAGE_HEADER}. Send an API key instead.`,
      )
    return callerOf(request, session, ports)
  }

/** The session of the request's cookie; null without a valid one. */
export async function sessionOf(request: Request, { page, clock }: Pick<SessionPorts, 'page' | 'clock'>): Promise<Session | null> {
  const cookie = sessionCookieOf(request)
  return cookie === null ? null : openSession(cookie, await page.sessionSecret(), clock.now())
}

/** Throws ServiceError `invalid_api_key` when the key of the session is not valid, or its person has signed out. */
export async function callerOf(request: Request, session: Session, { authenticate, ended }: SessionPorts): Promise<Caller> {
  const caller = await authenticate(withKey(request, session.apiKey))
  if (await ended.has(caller.tenant, session)) throw missingKeyError()
  return caller
}
