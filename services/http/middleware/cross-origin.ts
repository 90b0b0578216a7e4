import type { Context, MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { ServiceError } from '../../model/errors.ts'
import type { ApiConfig } from '../config.ts'
import { hostOf, hostNameOf } from '../public-url.ts'
import { PREFLIGHT } from '../origin/config.ts'
import type { WireHosts } from '../wire-hosts.ts'

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

const HEADERS: readonly (readonly [string, string])[] = [
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'"],
  ['cross-origin-resource-policy', 'same-origin'],
]

/** Answers are data for programs: browsers must not sniff, cache, frame or run them. A route may override this. */
export const securityHeaders: MiddlewareHandler = async (context, next) => {
  await next()
  const { headers } = context.res
  for (const [name, value] of HEADERS) if (!headers.has(name)) headers.set(name, value)
}

/** Load balancers and container platforms probe these paths by IP address; the answers contain no data. */
const PROBES: readonly string[] = ['/healthz', '/readyz']

/**
 * Refuses requests for any other host name. A web page can make its own name resolve to this machine (DNS rebinding): its browser then treats
 * the answers as the page's own, but still sends that name as `Host`.
 */
export function trustedHosts(
  config: Pick<ApiConfig, 'publicUrl' | 'trustProxy'>,
  allowed: readonly string[],
  hosts: readonly WireHosts[],
): MiddlewareHandler {
  const names = new Set([...allowed, ...(config.publicUrl === null ? [] : [new URL(config.publicUrl).host])].map(hostNameOf))
  return async ({ req }, next) => {
    const name = hostNameOf(hostOf(req.raw, config))
    const isOfWire = hosts.some(({ pattern }) => pattern.test(name))
    if (!names.has(name) && !isOfWire && !PROBES.includes(req.path))
      throw new ServiceError(
        'unknown_host',
        `This server does not answer for the host ${JSON.stringify(name.slice(0, 100))}. Use one of its names, or ask its operator to add this one to CELLBLOCK_ALLOWED_HOSTS.`,
      )
    await next()
  }
}
