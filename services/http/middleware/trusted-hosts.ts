import type { MiddlewareHandler } from 'hono'
import { ServiceError } from '../../model/errors.ts'
import type { ApiConfig } from '../config.ts'
import { hostNameOf, hostOf } from '../public-url.ts'
import type { WireHosts } from '../wire-hosts.ts'

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
