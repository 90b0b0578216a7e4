import type { ApiConfig } from '../../http/config.ts'
import { hostNameOf } from '../../http/public-url.ts'
import type { WireHosts } from '../../http/wire-hosts.ts'
import { domainOf } from './settings.ts'

/** Where the wire is served under other host names. */
export const E2B_PATH = '/e2b'

/** Ports of E2B's own daemon and interpreter in a sandbox. All others are those of programs. */
const DAEMON_PORTS = '49982|49983|49999'

/** The host names of E2B's form below the configured domain: `api.<domain>`, `sandbox.<domain>` and `<port>-<sandbox>.<domain>` for the ports of the daemon. */
export function e2bHosts(config: Pick<ApiConfig, 'wireSettings'>): readonly WireHosts[] {
  const domain = domainOf(config)
  if (domain === undefined) return []
  const suffix = hostNameOf(domain).replaceAll('.', String.raw`\.`)
  return [{ path: E2B_PATH, pattern: new RegExp(`^(?:api|sandbox|(?:${DAEMON_PORTS})-[0-9a-z]{1,57})\\.${suffix}$`) }]
}
