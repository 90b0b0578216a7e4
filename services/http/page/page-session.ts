import { ServiceError } from '../../model/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import { withKey, type Authenticate } from '../authenticate.ts'
import type { PagePorts } from '../page-ports.ts'
import { openSession, sessionCookieOf, type Session } from './session-cookie.ts'

/** The page sends this header; a form or a link of another site cannot. */
export const PAGE_HEADER = 'x-cellblock-page'

/**
 * Also accepts the session cookie of the page, where a request has no `Authorization` header. The cookie contains the API key that signed in, so a
 * revoked key ends its sessions. A request that changes anything must carry the page's header: browsers let no foreign page send it.
 */
export const acceptSessions =
  (authenticate: Authenticate, page: PagePorts, clock: Clock): Authenticate =>
  async (request) => {
    const cookie = request.headers.has('authorization') ? null : sessionCookieOf(request)
    const session = cookie === null ? null : await keyOfSession(cookie, page, clock.now())
    if (session === null) return authenticate(request)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (!isRead && request.headers.get(PAGE_HEADER) === null)
      throw new ServiceError(
        'origin_not_allowed',
        `A request with a session cookie needs the header ${PAGE_HEADER}. Send an API key instead.`,
      )
    return authenticate(withKey(request, session.apiKey))
  }

export const keyOfSession = async (cookie: string, page: PagePorts, now: number): Promise<Session | null> =>
  openSession(cookie, await page.sessionSecret(), now)
