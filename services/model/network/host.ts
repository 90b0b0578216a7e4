import { isPublicIPv4 } from './address.ts'

/** Stands for every host, in a rule. */
export const EVERY_HOST = '*'
const WILDCARD = '*.'

/** What a host cannot contain before it is converted: the conversion decodes percent signs. */
const NOT_IN_HOSTS = /[\s%/\\@:?#[\]]/
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
/** At least two labels; the last one begins with a character from a to z, so that no address matches. */
const NAME = new RegExp(`^(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`)
const MAX_NAME = 253

/** A host in lower case and punycode, without its final dot; null for an address and for anything else that is not a full name. */
export function normalizeHost(host: string): string | null {
  if (host.length > 2 * MAX_NAME || NOT_IN_HOSTS.test(host)) return null
  const name = (URL.parse(`http://${host}`)?.hostname ?? '').replace(/\.$/, '')
  return name.length <= MAX_NAME && NAME.test(name) ? name : null
}

/** Where a request may go: a host as `normalizeHost` has it, or a public address of IPv4. Null for anything else. */
export const normalizeTarget = (host: string): string | null => (isPublicIPv4(host) ? host : normalizeHost(host))

/** A host of a rule: a name, a public address of IPv4, `*.` and a name for all names below it, or `*` for every name and public address. Null for anything else. */
export function normalizeHostPattern(pattern: string): string | null {
  if (pattern === EVERY_HOST || isPublicIPv4(pattern)) return pattern
  const isWildcard = pattern.startsWith(WILDCARD)
  const name = normalizeHost(isWildcard ? pattern.slice(WILDCARD.length) : pattern)
  return name === null ? null : (isWildcard ? WILDCARD : '') + name
}

/** Both in their normal form. `*.example.com` does not match `example.com` itself. */
export const matchesHost = (pattern: string, host: string): boolean =>
  pattern === EVERY_HOST || pattern === host || (pattern.startsWith(WILDCARD) && host.endsWith(pattern.slice(1)))

/** Whether one pattern matches every host that another one matches. */
export const coversHost = (outer: string, inner: string): boolean =>
  outer === EVERY_HOST || outer === inner || (outer.startsWith(WILDCARD) && inner.replace(/^\*/, '').endsWith(outer.slice(1)))
