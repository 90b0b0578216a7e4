import * as z from 'zod'
import { boundedList, boundedRecord, openObject } from '../../model/bounded-schemas.ts'
import { lazySchema, type Described } from '../../model/lazy-schema.ts'
import type { Container } from '../../model/containers/container.ts'
import { normalizeRange } from '../../model/network/address.ts'
import { coversHost, EVERY_HOST, normalizeHostPattern } from '../../model/network/host.ts'
import { allowsEverything, hostsOf, isEmptyPolicy, NO_NETWORK } from '../../model/network/policy.ts'
import { POLICY_BOUNDS } from '../../model/network/policy-schema.ts'
import type { NetworkRule } from '../../model/network/rule.ts'
import { hasNetwork, policyOf, SECRET_BOUNDS, type NewSecret } from '../../model/network/secret.ts'
import { ServiceError } from '../../model/errors.ts'
import { ceilingOf, networkForNew, type PolicyPorts, type WantedNetwork } from '../../operations/network/new-policy.ts'
import { NotOfferedError } from './errors.ts'

const MAX_RULES = 1_000
/** E2B's name for all addresses. */
const ALL_TRAFFIC = '0.0.0.0/0'
const MAX_HOST = 300
/** As `Host` has it, with `${PORT}` for the port. */
const HOST = /^[\w.:${}-]+$/

const destinations = (max: number) => boundedList(z.string().max(MAX_HOST), { max }).nullish()
const HeaderRule = lazySchema(() =>
  openObject({
    transform: openObject({
      headers: boundedRecord(z.string().max(64), z.string().max(SECRET_BOUNDS.valueLength), POLICY_BOUNDS.injections).nullish(),
    }).nullish(),
  }),
)

const fields = lazySchema(() => ({
  allowOut: destinations(MAX_RULES),
  denyOut: destinations(POLICY_BOUNDS.denied),
  rules: boundedRecord(z.string().max(MAX_HOST), boundedList(HeaderRule(), { max: 10 }), POLICY_BOUNDS.secrets).nullish(),
  egressProxy: z.unknown().optional(),
}))

/** E2B's rules for the network of a sandbox. */
export const NetworkRules = lazySchema(() =>
  openObject({
    ...fields(),
    allowPublicTraffic: z.boolean().nullish(),
    maskRequestHost: z.string().max(MAX_HOST).regex(HOST).nullish(),
  }),
)
/** The body of `PUT /sandboxes/{id}/network`. */
export const NetworkUpdate = lazySchema(() => openObject({ ...fields(), allow_internet_access: z.boolean().nullish() }))

interface Wanted {
  readonly rules: Described<typeof NetworkRules> | null | undefined
  /** False forbids everything that `allowOut` does not name. True is the default of some clients, so it cannot mean more than the operator allows. */
  readonly internet: boolean | null | undefined
}

/**
 * What the sandbox may reach. Without `allowOut`: every host where the operator allows every host to the account, else the account's default; both without the addresses of
 * `denyOut`. Where both lists name an address, `allowOut` applies, as at E2B. Throws NotOfferedError for what the gateway does not know, and ServiceError for hosts that the operator does not allow.
 */
export async function networkOfSandbox(
  ports: PolicyPorts,
  owner: { readonly tenant: string; readonly subject: string | null },
  { rules, internet }: Wanted,
): Promise<WantedNetwork> {
  if (rules?.egressProxy !== undefined && rules.egressProxy !== null)
    throw new NotOfferedError('Sandboxes use no separate proxy. Omit `egressProxy`.')
  const named = (rules?.allowOut ?? []).map(hostOf)
  const denied = rules?.denyOut ?? []
  const deny = denied.filter((destination) => destination !== ALL_TRAFFIC).map(rangeOf)
  const isClosed = internet === false || denied.includes(ALL_TRAFFIC)
  const hasRules = Object.keys(rules?.rules ?? {}).length > 0
  if (named.length === 0 && isClosed) return { policy: NO_NETWORK, secrets: [] }
  const isOpen = named.length === 0 && ports.network !== undefined && allowsEverything(await ceilingOf(ports, owner.tenant))
  const hosts = isOpen ? [EVERY_HOST] : named
  if (hosts.length === 0 && hasRules) throw new NotOfferedError('A rule grants no access. Name its hosts in `allowOut`.')
  if (hosts.length === 0) return without(deny, await networkForNew(ports, owner, { wanted: undefined, param: 'network' }))
  const wanted = withHeaders([...new Set(hosts)], rules?.rules ?? {})
  return networkForNew(ports, owner, { wanted: hosts.includes(EVERY_HOST) ? without(deny, wanted) : wanted, param: 'network.allowOut' })
}

const without = (deny: readonly string[], { policy, secrets }: WantedNetwork): WantedNetwork => ({
  policy: deny.length === 0 || isEmptyPolicy(policy) ? policy : { ...policy, deny: [...new Set([...(policy.deny ?? []), ...deny])] },
  secrets,
})

const rangeOf = (destination: string): string => normalizeRange(destination) ?? refuse(destination, 'denyOut', 'IPv4 addresses and ranges')

const hostOf = (destination: string): string =>
  destination === ALL_TRAFFIC
    ? EVERY_HOST
    : (normalizeHostPattern(destination) ?? refuse(destination, 'allowOut', 'host names and public IPv4 addresses'))

function refuse(destination: string, list: string, known: string): never {
  throw new NotOfferedError(`\`${list}\` takes ${known}. Omit ${JSON.stringify(destination.slice(0, 80))}.`)
}

/** The values of headers are secrets of the sandbox. They are sent over HTTPS only, so a rule without them follows for HTTP. */
function withHeaders(hosts: readonly string[], given: NonNullable<Described<typeof NetworkRules>['rules']>): WantedNetwork {
  const secrets: NewSecret[] = []
  const injecting: NetworkRule[] = []
  for (const [pattern, list] of Object.entries(given).toSorted(byPrecision)) {
    const headers = Object.entries(Object.assign({}, ...list.map(({ transform }) => transform?.headers ?? {})) as Record<string, string>)
    if (headers.length === 0) continue
    const target = normalizeHostPattern(pattern)
    if (target === null || target === EVERY_HOST)
      throw new ServiceError('invalid_request', `${JSON.stringify(pattern.slice(0, 80))} in 'network.rules' is no host name.`, {
        param: 'network.rules',
      })
    const reached = hosts.flatMap((host) => (coversHost(host, target) ? [target] : coversHost(target, host) ? [host] : []))
    // A rule grants no access: without a host that may be reached it has no effect.
    if (reached.length === 0) continue
    const inject = headers.map(([header, value]) => {
      const name = `HEADER_${secrets.length + 1}`
      secrets.push({ name, hosts: [...new Set(reached)], value })
      return { header: header.toLowerCase(), secret: name }
    })
    injecting.push(...[...new Set(reached)].map((host) => ({ host, inject })))
  }
  return { policy: { allow: [...injecting, ...hosts.map((host) => ({ host }))], presets: [] }, secrets }
}

/** Exact names first, then the longest wildcard. */
const byPrecision = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  Number(a.startsWith('*')) - Number(b.startsWith('*')) || b.length - a.length

/** As E2B's clients read it. */
export function describeNetwork(container: Container): Readonly<Record<string, unknown>> {
  const policy = policyOf(container)
  const allowOut = hostsOf(policy)
  const denyOut = allowOut.includes(EVERY_HOST) ? (policy.deny ?? []) : [ALL_TRAFFIC]
  return { allowInternetAccess: hasNetwork(container), network: { allowOut, denyOut } }
}
