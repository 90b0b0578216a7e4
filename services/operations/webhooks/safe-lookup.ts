import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { isInRange, isPublicIPv4 } from '../../model/network/address.ts'

/** Only 2000::/3 of IPv6 is public. These parts of it are not, or contain an IPv4 address that would have to be checked as well. */
const IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const
const refused = new BlockList()
for (const [net, prefix] of IPV6) refused.addSubnet(net, prefix, 'ipv6')
const publicIPv6 = new BlockList()
publicIPv6.addSubnet('2000::', 3, 'ipv6')

/** Whether an address belongs to the public internet. */
const isPublicAddress = (address: string): boolean =>
  isIP(address) === 6 ? publicIPv6.check(address, 'ipv6') && !refused.check(address, 'ipv6') : isPublicIPv4(address)

/** A name leads to an address that may not be reached. The message is for the program that asked. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError'
}

/** As `lookup` of node:dns with all addresses. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * Resolves a name once for a connection and refuses it unless every address is public. The connection goes to exactly the addresses that were
 * checked, so a name that answers differently a moment later changes nothing. Hosts in `allowedHosts` may have any address but one in `deny`.
 */
export const safeLookup =
  ({
    allowedHosts,
    deny = [],
    resolve = lookup,
  }: {
    readonly allowedHosts: readonly string[]
    readonly deny?: readonly string[] | undefined
    readonly resolve?: Resolve | undefined
  }): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '')
      const [first] = addresses
      const isAllowed = allowedHosts.includes(hostname) || addresses.every(({ address }) => isPublicAddress(address))
      if (first === undefined || !isAllowed)
        return callback(
          new RefusedAddressError(
            `The address of ${hostname} is not public. Use a public address, or ask the operator to allow this host.`,
          ),
          '',
        )
      if (addresses.some(({ address }) => isInRange(deny, address)))
        return callback(new RefusedAddressError(`The network policy of this container forbids the address of ${hostname}.`), '')
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
