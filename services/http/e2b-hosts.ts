import { getPath } from 'hono/utils/url'
import type { ApiConfig } from './config.ts'
import { hostOf } from './public-url.ts'

/** Where E2B's wire is served under other host names. */
export const E2B_PATH = '/e2b'

const withoutPort = (host: string): string => host.toLowerCase().replace(/:\d{1,5}$/, '')

/** Whether a host name has E2B's form below this domain: `api.<domain>`, `sandbox.<domain>` or `<port>-<sandbox>.<domain>`. */
export function isE2bHost(host: string, domain: string): boolean {
  const name = withoutPort(host)
  const suffix = `.${withoutPort(domain)}`
  return name.endsWith(suffix) && /^(?:api|sandbox|\d{1,5}-[0-9a-z]{1,57})$/.test(name.slice(0, -suffix.length))
}

/** The path that routes a request. Under the host names of E2B's wire its paths start at the root. */
export function routedPath(request: Request, config: Pick<ApiConfig, 'e2bDomain' | 'trustProxy'>): string {
  const path = getPath(request)
  if (config.e2bDomain === null) return path
  try {
    return isE2bHost(hostOf(request, config), config.e2bDomain) ? E2B_PATH + path : path
  } catch {
    // A malformed host is refused later, with a sentence.
    return path
  }
}
