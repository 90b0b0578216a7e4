import type { Context, MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { ServiceError } from '../../model/errors.ts'
import type { ApiConfig } from '../config.ts'
import { hostOf } from '../public-url.ts'
import { PREFLIGHT } from '../origin/config.ts'

/** Pages of any origin show images by links and the logo, and sandboxed frames load the playground's files. None of these needs a key. */
const EMBEDDABLE = /^\/(?:d\/[^/]+|assets\/[^/]+|logo\.png)$/

/**
 * Permits pages of these origins to call the API from a browser with a key in a header; the answers permit no cookies. Any request header is permitted,
 * because only these origins may call.
 */
export const allowOrigins = (origins: readonly string[]): MiddlewareHandler =>
  cors({
    origin: [...origins],
    allowMethods: [...PREFLIGHT.methods],
    exposeHeaders: ['x-request-id', 'location', 'retry-after', 'content-disposition'],
    maxAge: PREFLIGHT.maxAgeSeconds,
  })

/** Refuses requests that a page of an unknown origin makes a browser send. Other clients send none of these headers. */
export const refuseForeignOrigins =
  (config: Pick<ApiConfig, 'corsOrigins' | 'publicUrl' | 'trustProxy'>): MiddlewareHandler =>
  async (context, next) => {
    if (isForeign(context, config))
      throw new ServiceError(
        'origin_not_allowed',
        'Web pages of this origin are not allowed to call this server. Ask its operator to add the origin to CORS_ORIGINS, or call the API from a server.',
      )
    await next()
  }

function isForeign({ req }: Context, config: Pick<ApiConfig, 'corsOrigins' | 'publicUrl' | 'trustProxy'>): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD'
  if (isRead && EMBEDDABLE.test(req.path)) return false
  const origin = req.header('origin')
  if (origin !== undefined) return !config.corsOrigins.includes(origin) && !isOwn(origin, req.raw, config)
  const site = req.header('sec-fetch-site')
  // Navigation from another page is permitted, because that page cannot read the answer.
  const isNavigation = isRead && req.header('sec-fetch-mode') === 'navigate'
  return (site === 'cross-site' || site === 'same-site') && !isNavigation
}

/** Compares hosts only, because a proxy that terminates TLS changes the scheme. */
const isOwn = (origin: string, request: Request, config: Pick<ApiConfig, 'publicUrl' | 'trustProxy'>): boolean =>
  origin === config.publicUrl || (URL.canParse(origin) && new URL(origin).host === hostOf(request, config).toLowerCase())
