import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Ranges that no public server has: private, local, shared, documentation, multicast and reserved ones (IANA special-purpose registries). */
const IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const
/** Only 2000::/3 of IPv6 is public. These parts of it are not, or contain an IPv4 address that would have to be checked as well. */
const IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const refused = new BlockList()
for (const [net, prefix] of IPV4) refused.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of IPV6) refused.addSubnet(net, prefix, 'ipv6')
const publicIPv6 = new BlockList()
publicIPv6.addSubnet('2000::', 3, 'ipv6')

/** Whether an address belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !refused.check(address, 'ipv4')
  return family === 6 && publicIPv6.check(address, 'ipv6') && !refused.check(address, 'ipv6')
}

export class PrivateAddressError extends Error {
  constructor(host: string) {
    super(`The address of ${host} is not public. Use a public address, or ask the operator to allow this host.`)
    this.name = 'PrivateAddressError'
  }
}

/** As `lookup` of node:dns with all addresses. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * Resolves a name once for a connection and refuses it unless every address is public. The connection goes to exactly the addresses that were
 * checked, so a name that answers differently a moment later changes nothing. Hosts in `allowedHosts` may have any address.
 */
export const safeLookup =
  (allowedHosts: readonly string[], resolve: Resolve = lookup): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '')
      const [first] = addresses
      const isAllowed = allowedHosts.includes(hostname) || addresses.every(({ address }) => isPublicAddress(address))
      if (first === undefined || !isAllowed) return callback(new PrivateAddressError(hostname), '')
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }

/** What is wrong with the URL of an endpoint; null when nothing is. Names are resolved later, at each attempt. */
export function urlProblem(text: string, allowedHosts: readonly string[]): string | null {
  const url = URL.parse(text)
  if (url === null) return 'must be a whole address, such as https://example.com/hooks'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isAllowed = allowedHosts.includes(host)
  if (url.protocol !== 'https:' && !(isAllowed && url.protocol === 'http:')) return 'must begin with https://'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password'
  if (url.hash !== '') return 'must not contain a fragment'
  if (!isAllowed && isIP(host) !== 0 && !isPublicAddress(host)) return 'must have a public address'
  return null
}
