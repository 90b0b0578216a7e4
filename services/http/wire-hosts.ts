import { getPath } from 'hono/utils/url'
import type { ApiConfig } from './config.ts'
import { hostNameOf, hostOf } from './public-url.ts'

/** Host names under which the paths of one wire start at the root. */
export interface WireHosts {
  /** Matches a host name in lower case, without its port. */
  readonly pattern: RegExp
  /** The path of the wire under other host names. */
  readonly path: string
}

/** The path that routes a request. */
export function routedPath(request: Request, config: Pick<ApiConfig, 'trustProxy'>, hosts: readonly WireHosts[]): string {
  const path = getPath(request)
  if (hosts.length === 0) return path
  try {
    const name = hostNameOf(hostOf(request, config))
    return (hosts.find(({ pattern }) => pattern.test(name))?.path ?? '') + path
  } catch {
    // A malformed host is refused later, with a sentence.
    return path
  }
}
