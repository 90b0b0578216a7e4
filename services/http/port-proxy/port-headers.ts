import type { IncomingMessage } from 'node:http'
import { forwardedHeaders, type HeaderFields } from '../../model/network/forwarded-headers.ts'

/** The address of a port as its visitors know it. */
export interface PortAddress {
  readonly port: number
  /** As the visitor sent it: the name with the port of the server. */
  readonly host: string
  readonly scheme: 'http' | 'https'
  /** The name by which the program is called; that of this machine without it. */
  readonly program?: string | null | undefined
}

/** Cookies with these names are the server's. They never reach a program, and a program cannot set one. */
const OWN_COOKIE = /^(?:__(?:host|secure)-)?cellblock_/i
/** The token of a published port, for programs. */
export const TOKEN_HEADER = 'cellblock-port-token'

/** What a visitor's proxy or this server adds, and what only this server reads. */
const NOT_FORWARDED = /^(?:forwarded|x-forwarded-.*|x-real-ip|cellblock-.*|x-cellblock-.*)$/
const KEY = /^(?:bearer\s+)?ck_/i

/**
 * They speak for more than their origin: a browser would apply them to other origins of the domain, to other ports of the host, or to the whole site.
 */
const NOT_ANSWERED = ['alt-svc', 'clear-site-data', 'strict-transport-security', 'transfer-encoding']

export const originOf = ({ host, scheme }: Pick<PortAddress, 'host' | 'scheme'>): string => `${scheme}://${host}`
const programOf = ({ port, program }: PortAddress): string => program ?? `localhost:${port}`

/**
 * The head of a request as the program gets it. The program listens on localhost and is called by that name, so that development servers, which refuse other
 * names, answer. Some programs read `Host` in this case only. `secrets`: headers with credentials of a wire.
 */
export function headersToProgram(incoming: IncomingMessage, address: PortAddress, secrets: readonly string[]): HeaderFields {
  const headers = forwardedHeaders(incoming)
  for (const [name, values] of Object.entries(headers)) {
    const isKey = (name === 'authorization' || name === 'x-api-key') && values.some((value) => KEY.test(value))
    if (NOT_FORWARDED.test(name) || secrets.includes(name) || isKey) delete headers[name]
  }
  const cookies = (headers['cookie'] ?? []).flatMap((value) => value.split(';')).filter((pair) => !isOwnCookie(pair))
  if (cookies.length === 0) delete headers['cookie']
  else headers['cookie'] = [cookies.map((pair) => pair.trim()).join('; ')]
  for (const name of ['origin', 'referer'])
    if (headers[name] !== undefined) headers[name] = headers[name].map((value) => toProgram(value, address))
  if (headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = ['chunked']
  return {
    ...headers,
    Host: [programOf(address)],
    'x-forwarded-host': [address.host],
    'x-forwarded-proto': [address.scheme],
  }
}

const isOwnCookie = (pair: string): boolean => OWN_COOKIE.test(pair.trim()) || pair.trim().startsWith('=')

/** The port's own origin is that of the program. Other origins stay, so that the program can refuse them. */
function toProgram(value: string, address: PortAddress): string {
  const own = originOf(address)
  return value === own || value.startsWith(`${own}/`) ? `http://${programOf(address)}${value.slice(own.length)}` : value
}

/** The head of an answer as the visitor gets it. `policy` is added to the program's own. */
export function headersToVisitor(answer: IncomingMessage, address: PortAddress, policy: string | null): HeaderFields {
  const headers = forwardedHeaders(answer)
  for (const name of NOT_ANSWERED) delete headers[name]
  const cookies = (headers['set-cookie'] ?? []).flatMap((cookie) => ownedCookie(cookie) ?? [])
  if (cookies.length === 0) delete headers['set-cookie']
  else headers['set-cookie'] = cookies
  if (headers['location'] !== undefined) headers['location'] = headers['location'].map((value) => toVisitor(value, address))
  // Browsers apply every policy that they receive.
  if (policy !== null) headers['content-security-policy'] = [...(headers['content-security-policy'] ?? []), policy]
  return headers
}

/** A cookie belongs to the host of the port alone. Null for one that only the server sets, or that a browser could take for one. */
function ownedCookie(cookie: string): string | null {
  if (isOwnCookie(cookie)) return null
  const [pair = '', ...attributes] = cookie.split(';')
  return [pair, ...attributes.filter((attribute) => !/^\s*domain\s*(?:=|$)/i.test(attribute))].join(';')
}

function toVisitor(location: string, address: PortAddress): string {
  const [, port, rest] = /^https?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d+)((?:[/?#].*)?)$/i.exec(location) ?? []
  return Number(port) === address.port ? `${originOf(address)}${rest}` : location
}
