import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'

/** Seconds that a browser remembers the answer to a preflight. */
const MAX_AGE_SECONDS = 3_600

/**
 * Lets pages of these origins call the API from a browser, with their key in a header: the answers allow no cookies, and there are none. The
 * origins are the wall, so any header may be asked for. Pages of other origins get answers that their browser keeps from them.
 */
export const allowOrigins = (origins: readonly string[]): MiddlewareHandler =>
  cors({
    origin: [...origins],
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposeHeaders: ['x-request-id', 'location', 'retry-after', 'content-disposition'],
    maxAge: MAX_AGE_SECONDS,
  })
