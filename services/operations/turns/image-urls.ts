import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { ServiceError } from '../../model/errors.ts'

type Wire = Readonly<Record<string, unknown>>

/** Addresses of this machine, of private networks and of cloud metadata services, and prefixes that translate to them. */
const PRIVATE = new BlockList()
const IPV4_NETWORKS =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/3'
const IPV6_NETWORKS = '::/127 64:ff9b::/96 2002::/16 fc00::/7 fe80::/10 ff00::/8'
for (const [networks, family] of [
  [IPV4_NETWORKS, 'ipv4'],
  [IPV6_NETWORKS, 'ipv6'],
] as const)
  for (const network of networks.split(' ')) {
    const [address = '', prefix] = network.split('/')
    PRIVATE.addSubnet(address, Number(prefix), family)
  }
/** Names that resolve on private networks only. */
const PRIVATE_NAME = /^(?:[^.]+|.+\.(?:localhost|local|internal|lan|home\.arpa))$/

/**
 * Throws ServiceError `invalid_request` for an image address that the model's endpoint could fetch from its own network. Such an endpoint may
 * run in this service's network, and its answer would disclose internal content.
 */
export function refusePrivateImages(items: readonly Wire[], param: string): void {
  for (const [index, item] of items.entries()) visit(item, `${param}[${index}]`)
}

/** Bodies have bounded depth, so this ends. */
function visit(value: unknown, param: string): void {
  if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) visit(entry, `${param}[${index}]`)
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [name, field] of Object.entries(value)) {
    if (name === 'image_url' || name === 'file_url')
      check(typeof field === 'object' && field !== null ? (field as Wire)['url'] : field, `${param}.${name}`)
    else if (typeof field === 'object') visit(field, `${param}.${name}`)
  }
}

function check(url: unknown, param: string): void {
  if (url === null || url === undefined || url === '') return
  if (typeof url === 'string' && (/^data:/i.test(url) || isPublic(url))) return
  throw new ServiceError(
    'invalid_request',
    'The address is neither a data URL nor a public http or https address. Send the bytes as a data URL, or upload the file and name its id.',
    { param },
  )
}

/** WHATWG parsing normalizes every spelling of an IPv4 address. */
function isPublic(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return false
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIPv4(host)) return !PRIVATE.check(host, 'ipv4')
  if (isIPv6(host)) return !PRIVATE.check(host, 'ipv6')
  return !PRIVATE_NAME.test(host)
}
