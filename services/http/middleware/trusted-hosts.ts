import type { MiddlewareHandler } from 'hono'
import { ServiceError } from '../../model/errors.ts'
import type { ApiConfig } from '../config.ts'
import { isE2bHost } from '../e2b-hosts.ts'
import { hostOf } from '../public-url.ts'

/** Load balancers and container platforms probe these paths by IP address; the answers contain no data. */
const PROBES: readonly string[] = ['/healthz', '/readyz']

/** `Example.com:8787` without its port, in lower case. */
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d{1,5}$/, '')

/**
 * Refuses requests for any other host name. A web page can make its own name resolve to this machine (DNS rebinding): its browser then treats
 * the answers as the page's own, but still sends that name as `Host`.
 */
export function trustedHosts(
  config: Pick<ApiConfig, 'publicUrl' | 'trustProxy' | 'e2bDomain'>,
  allowed: readonly string[],
): MiddlewareHandler {
  const names = new Set([...allowed, ...(config.publicUrl === null ? [] : [new URL(config.publicUrl).host])].map(nameOf))
  return async ({ req }, next) => {
    const name = nameOf(hostOf(req.raw, config))
    const isE2b = config.e2bDomain !== null && isE2bHost(name, config.e2bDomain)
    if (!names.has(name) && !isE2b && !PROBES.includes(req.path))
      throw new ServiceError(
        'unknown_host',
        `This server does not answer for the host ${JSON.stringify(name.slice(0, 100))}. Use one of its names, or ask its operator to add this one to CELLBLOCK_ALLOWED_HOSTS.`,
      )
    await next()
  }
}
