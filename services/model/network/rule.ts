import { matchesHost } from './host.ts'
import { isAmbiguousPath, matchesPath } from './path-pattern.ts'

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof METHODS)[number]

/** A header that the gateway sets to the value of a secret, with a text before it such as `Bearer `. */
export interface Injection {
  readonly header: string
  readonly secret: string
  readonly prefix?: string | undefined
}

/** One host, and what may be requested from it. */
export interface NetworkRule {
  /** A name in lower case and punycode, `*.example.com` for all names below one, or `*`. */
  readonly host: string
  /** Absent: every method. `GET` includes `HEAD`. */
  readonly methods?: readonly Method[] | undefined
  /** Patterns (path-pattern.ts). Absent: every path. */
  readonly paths?: readonly string[] | undefined
  readonly inject?: readonly Injection[] | undefined
}

export interface NetworkRequest {
  readonly host: string
  readonly port: number
  readonly method: string
  /** Without the query. */
  readonly path: string
}

/** The part of the policy that refused a request. */
export type RefusedBy = 'address' | 'port' | 'host' | 'method' | 'path' | 'secret' | 'ceiling'

export type NetworkDecision =
  | { readonly allowed: true; readonly rule: NetworkRule }
  /** `reason`: one sentence or two in printable ASCII, for the program and the model. */
  | { readonly allowed: false; readonly by: RefusedBy; readonly reason: string }

export const HTTPS = 443
/** Names in a reason. */
const MAX_NAMED = 10

/** The first rule that allows a request to this host, a normal one; else why there is none. */
export function findRule(rules: readonly NetworkRule[], host: string, { port, method, path }: NetworkRequest): NetworkDecision {
  const ofHost = rules.filter((rule) => matchesHost(rule.host, host))
  if (ofHost.length === 0) return refuse('host', `This container may not reach ${host}. ${describeHosts(rules)}`)
  const ofMethod = ofHost.filter(({ methods }) => methods === undefined || includesMethod(methods, method))
  if (ofMethod.length === 0)
    return refuse('method', `This method is not allowed for ${host}. Allowed: ${namesOf(ofHost.flatMap(({ methods = [] }) => methods))}.`)
  const ofPath = ofMethod.filter(({ paths }) => allowsPath(paths, path))
  if (ofPath.length === 0)
    return refuse('path', `This path is not allowed for ${host}. Allowed: ${namesOf(ofMethod.flatMap(({ paths = [] }) => paths))}.`)
  const rule = ofPath.find(({ inject = [] }) => inject.length === 0 || port === HTTPS)
  if (rule === undefined) return refuse('secret', `${host} needs HTTPS, because the request gets a secret.`)
  return { allowed: true, rule }
}

export const refuse = (by: RefusedBy, reason: string): NetworkDecision => ({ allowed: false, by, reason })

const includesMethod = (methods: readonly string[], method: string): boolean =>
  methods.includes(method) || (method === 'HEAD' && methods.includes('GET'))

const allowsPath = (patterns: readonly string[] | undefined, path: string): boolean =>
  patterns === undefined || (!isAmbiguousPath(path) && patterns.some((pattern) => matchesPath(pattern, path)))

function namesOf(names: readonly string[]): string {
  const unique = [...new Set(names)]
  const more = unique.length - MAX_NAMED
  return more > 0 ? `${unique.slice(0, MAX_NAMED).join(', ')} and ${more} more` : unique.join(', ')
}

/** A sentence for programs and models about the hosts that these rules allow. */
export const describeHosts = (rules: readonly NetworkRule[]): string =>
  rules.length === 0 ? 'It has no network.' : `It may reach: ${namesOf(rules.map(({ host }) => host))}.`
