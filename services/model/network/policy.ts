import { isInRange } from './address.ts'
import { coversHost, EVERY_HOST, normalizeTarget } from './host.ts'
import { PRESETS, type PresetName } from './presets.ts'
import { findRule, HTTPS, refuse, type NetworkDecision, type NetworkRequest, type NetworkRule } from './rule.ts'

/** What a container may reach. The empty policy is the default: no network. */
export interface NetworkPolicy {
  readonly allow: readonly NetworkRule[]
  readonly presets: readonly PresetName[]
  /** Addresses of IPv4 and ranges of them that no request goes to, whichever rule allows it. */
  readonly deny?: readonly string[] | undefined
  /** Names of secrets whose placeholders code gets as environment variables. */
  readonly secrets?: readonly string[] | undefined
  /** Bytes in both directions during the life of the container. Absent: no limit but the tenant's. */
  readonly bytes?: number | undefined
}

/** What the operator allows to the containers of a tenant. It applies to every request, so a change of it also applies to existing containers. */
export interface NetworkCeiling {
  readonly allow: readonly Omit<NetworkRule, 'inject'>[]
  readonly presets: readonly PresetName[]
}

export const NO_NETWORK: NetworkPolicy = { allow: [], presets: [] }

export const isEmptyPolicy = ({ allow, presets }: Pick<NetworkPolicy, 'allow' | 'presets'>): boolean => allow.length + presets.length === 0

/** The rules in the order in which they apply: those of the policy, then those of its presets. */
export const expandPolicy = ({ allow, presets }: Pick<NetworkPolicy, 'allow' | 'presets'>): readonly NetworkRule[] => [
  ...allow,
  ...presets.flatMap((name): readonly NetworkRule[] => PRESETS[name].rules),
]

/** Hosts that a policy names, in its order. */
export const hostsOf = (policy: Pick<NetworkPolicy, 'allow' | 'presets'>): readonly string[] => [
  ...new Set(expandPolicy(policy).map(({ host }) => host)),
]

/** Hosts of a policy that the ceiling does not cover. Methods and paths of the ceiling apply to each request. */
export function hostsOutside(policy: Pick<NetworkPolicy, 'allow' | 'presets'>, ceiling: NetworkCeiling): readonly string[] {
  const outer = hostsOf(ceiling)
  return hostsOf(policy).filter((host) => !outer.some((one) => coversHost(one, host)))
}

/** Whether the ceiling has no bound, as `allow_internet_access` of other services needs it. */
export const allowsEverything = (ceiling: NetworkCeiling): boolean =>
  ceiling.allow.some(({ host, methods, paths }) => host === EVERY_HOST && methods === undefined && paths === undefined)

/** What applies to the requests of a container: both lists must allow a request, and the first matching rule of `rules` is used. */
export interface AppliedPolicy {
  readonly rules: readonly NetworkRule[]
  readonly ceiling: readonly NetworkRule[]
  /** Addresses and ranges. Those that a name leads to are checked when it is resolved. */
  readonly deny: readonly string[]
}

const PORTS: readonly number[] = [80, HTTPS]
/** Whether a request may leave. Every request is decided, never a connection. */
export function decideRequest({ rules, ceiling, deny }: AppliedPolicy, request: NetworkRequest): NetworkDecision {
  const host = normalizeTarget(request.host)
  if (host === null) return refuse('address', 'Only full host names and public IPv4 addresses can be reached.')
  if (isInRange(deny, host)) return refuse('address', `The network policy of this container forbids ${host}.`)
  if (!PORTS.includes(request.port))
    return refuse('port', `Port ${request.port} of ${host} cannot be reached: only HTTPS (443) and HTTP (80) can.`)
  const found = findRule(rules, host, request)
  if (!found.allowed) return found
  const limit = findRule(ceiling, host, request)
  if (limit.allowed) return found
  return refuse(
    'ceiling',
    `The operator of this service does not allow this request to ${host}: ${limit.reason} Ask the operator to allow it.`,
  )
}
