import type { Context, MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { ServiceError } from '../../core/errors.ts'
import type { ApiConfig } from '../config.ts'
import { hostOf } from '../http/public-url.ts'

/** Seconds that a browser remembers the answer to a preflight. */
const MAX_AGE_SECONDS = 3_600
/** Pages of any origin show images by links and the logo, and sandboxed frames load the playground's files. None of these needs a key. */
const EMBEDDABLE = /^\/(?:d\/[^/]+|assets\/[^/]+|logo\.png)$/

/**
 * Lets pages of these origins call the API from a browser, with their key in a header: the answers allow no cookies, and there are none. Any
 * header may be asked for, because only these origins may ask.
 */
export const allowOrigins = (origins: readonly string[]): MiddlewareHandler =>
  cors({
    origin: [...origins],
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposeHeaders: ['x-request-id', 'location', 'retry-after', 'content-disposition'],
    maxAge: MAX_AGE_SECONDS,
  })

/** Refuses what a page of an origin that is not configured makes a browser send. Clients that are not browsers send none of these headers. */
export const refuseForeignOrigins =
  (config: Pick<ApiConfig, 'corsOrigins' | 'publicUrl' | 'trustProxy'>): MiddlewareHandler =>
  async (context, next) => {
    if (isForeign(context, config))
      throw new ServiceError(
        'origin_not_allowed',
        'Pages of this origin may not call this server. Have its operator add the origin to CORS_ORIGINS, or call from a server.',
      )
    await next()
  }

function isForeign({ req }: Context, config: Pick<ApiConfig, 'corsOrigins' | 'publicUrl' | 'trustProxy'>): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  if (isRead && EMBEDDABLE.test(req.path)) return false
  const origin = req.header('origin')
  if (origin !== undefined) return !config.corsOrigins.includes(origin) && !isOwn(origin, req.raw, config)
  const site = req.header('sec-fetch-site')
  // Following a link from another page is not a call by that page: it cannot read the answer.
  const isNavigation = isRead && req.header('sec-fetch-mode') === 'navigate'
  return (site === 'cross-site' || site === 'same-site') && !isNavigation
}

/** A proxy that ends TLS makes the scheme differ, so the host decides. */
const isOwn = (origin: string, request: Request, config: Pick<ApiConfig, 'publicUrl' | 'trustProxy'>): boolean =>
  origin === config.publicUrl || (URL.canParse(origin) && new URL(origin).host === hostOf(request, config).toLowerCase())
