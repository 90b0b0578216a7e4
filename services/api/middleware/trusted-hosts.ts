import type { MiddlewareHandler } from 'hono'
import { ServiceError } from '../../core/errors.ts'
import type { ApiConfig } from '../config.ts'
import { hostOf } from '../http/public-url.ts'

/** Load balancers and container platforms probe by address, and the answers name nothing. */
const PROBES: readonly string[] = ['/healthz', '/readyz']

/** `Example.com:8787` without its port, in lower case. */
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d{1,5}$/, '')

/**
 * Refuses requests for any other host name. A web page can make its own name resolve to this machine (DNS rebinding): its browser then takes
 * the answers for the page's own, but still sends that name as `Host`.
 */
export function trustedHosts(config: Pick<ApiConfig, 'publicUrl' | 'trustProxy'>, allowed: readonly string[]): MiddlewareHandler {
  const names = new Set([...allowed, ...(config.publicUrl === null ? [] : [new URL(config.publicUrl).host])].map(nameOf))
  return async ({ req }, next) => {
    const name = nameOf(hostOf(req.raw, config))
    if (!names.has(name) && !PROBES.includes(req.path))
      throw new ServiceError(
        'unknown_host',
        `This server does not answer for the host ${JSON.stringify(name.slice(0, 100))}. Use one of its names, or have its operator add this one to CELLBLOCK_ALLOWED_HOSTS.`,
      )
    await next()
  }
}
