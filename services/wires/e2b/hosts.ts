import type { ApiConfig } from '../../http/config.ts'
import { hostNameOf } from '../../http/public-url.ts'
import type { WireHosts } from '../../http/wire-hosts.ts'
import { domainOf } from './settings.ts'

/** Where the wire is served under other host names. */
export const E2B_PATH = '/e2b'

/** The host names of E2B's form below the configured domain: `api.<domain>`, `sandbox.<domain>` and `<port>-<sandbox>.<domain>`. */
export function e2bHosts(config: Pick<ApiConfig, 'wireSettings'>): readonly WireHosts[] {
  const domain = domainOf(config)
  if (domain === undefined) return []
  const suffix = hostNameOf(domain).replaceAll('.', String.raw`\.`)
  return [{ path: E2B_PATH, pattern: new RegExp(`^(?:api|sandbox|\\d{1,5}-[0-9a-z]{1,57})\\.${suffix}$`) }]
}
