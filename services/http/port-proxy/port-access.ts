import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Container } from '../../model/containers/container.ts'
import { LINK_PARAMETER, type PortHost } from '../../model/containers/container-label.ts'
import { ServiceError } from '../../model/errors.ts'
import { credentialOf, isCredential, type PublishedPort, type PublishedPorts } from '../../operations/containers/published-ports.ts'
import type { ApiDeps } from '../deps.ts'
import { linkUsed, notOpened, PortError } from './port-error.ts'
import { TOKEN_HEADER } from './port-headers.ts'
import type { PortRule } from './port-rule.ts'

const COOKIE = 'cellblock_port'
/** Frames have their own, because browsers send them no cookie of the other kind. */
const FRAME_COOKIE = 'cellblock_port_frame'
/** Cookies of one name that are checked: pages of sibling hosts can add some. */
const MAX_COOKIES = 20

/** A rule that refused a visitor, in the form of its wire. */
export class RuleRefusal extends Error {
  readonly response: Response
  constructor(response: Response) {
    super('The rule of a wire refused a visitor.')
    this.response = response
  }
}

/** What opened the port for a visitor. */
export type Opening = 'cookie' | 'token' | 'rule'

export interface Visit {
  readonly host: PortHost
  readonly container: Container
  readonly opening: Opening
  /** The name by which the program is called; null for the default. */
  readonly program: string | null
}

interface AccessPorts {
  readonly api: Pick<ApiDeps, 'table' | 'clock' | 'config'>
  readonly published: PublishedPorts
  readonly rules: readonly PortRule[]
}

/** Decides who reaches which port. */
export class PortAccess {
  readonly #ports: AccessPorts

  constructor(ports: AccessPorts) {
    this.#ports = ports
  }

  /** Throws PortError `not_published` for a visitor without a credential, whether or not there is such a port, and RuleRefusal. */
  async visit(host: PortHost, headers: IncomingHttpHeaders): Promise<Visit> {
    const { api, published, rules } = this.#ports
    const port = await published.find(host)
    const opening = port === null ? null : openedBy(port, headers)
    const container = await api.table.containers.get(host.tenant, host.containerId)
    if (container === null) throw notOpened()
    if (opening !== null && container.deletedAt === null) return { host, container, opening, program: null }
    for (const rule of rules)
      if (await admits(rule, api, { container, headers }))
        return { host, container, opening: 'rule', program: rule.programName(container, host.port) }
    throw notOpened()
  }

  /** The cookie that a link stands for, as `Set-Cookie` has it. Throws PortError `link_used`. */
  async redeem(host: PortHost, link: string, browser: { readonly isFrame: boolean; readonly isHttps: boolean }): Promise<string> {
    const port = await this.#ports.published.redeem(host, link)
    if (port === null) throw linkUsed()
    return cookieFor(port, { ...browser, now: this.#ports.api.clock.now() })
  }
}

async function admits(rule: PortRule, api: AccessPorts['api'], visit: Parameters<PortRule['admits']>[1]): Promise<boolean> {
  try {
    return await rule.admits(api, visit)
  } catch (error) {
    if (error instanceof ServiceError) throw new RuleRefusal(rule.refuse(error))
    throw error
  }
}

function openedBy(port: PublishedPort, headers: IncomingHttpHeaders): Opening | null {
  const token = headers[TOKEN_HEADER]
  if (typeof token === 'string') return isCredential(port, 'token', token) ? 'token' : null
  return cookiesOf(headers).some((value) => isCredential(port, 'cookie', value)) ? 'cookie' : null
}

function cookiesOf({ cookie = '' }: IncomingHttpHeaders): readonly string[] {
  const values = cookie.split(';').flatMap((pair) => {
    const [, name = '', value = ''] = /^\s*(?:__Host-)?(\w+)=([\w-]{1,100})\s*$/.exec(pair) ?? []
    return name === COOKIE || name === FRAME_COOKIE ? [value] : []
  })
  return values.slice(0, MAX_COOKIES)
}

/**
 * For the host of the port alone, and not for scripts. A frame of the page is another site for browsers, so its cookie is one of the page's partition: other
 * pages that frame the port get none.
 */
function cookieFor(port: PublishedPort, { isFrame, isHttps, now }: { isFrame: boolean; isHttps: boolean; now: number }): string {
  const name = `${isHttps ? '__Host-' : ''}${isFrame ? FRAME_COOKIE : COOKIE}`
  const seconds = Math.max(1, Math.floor((port.expiresAt - now) / 1000))
  const scope = isFrame ? 'SameSite=None; Secure; Partitioned' : `SameSite=Lax${isHttps ? '; Secure' : ''}`
  return `${name}=${credentialOf(port, 'cookie')}; Path=/; Max-Age=${seconds}; HttpOnly; ${scope}`
}

/** Refuses what a page of another origin makes a browser send with the cookie. Throws PortError `foreign_origin`. */
export function checkOrigin(
  { opening }: Pick<Visit, 'opening'>,
  { method, headers, host }: { readonly method: string | undefined; readonly headers: IncomingHttpHeaders; readonly host: string },
): void {
  if (opening !== 'cookie') return
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
  const isNavigation = (method === 'GET' || method === 'HEAD') && headers['sec-fetch-mode'] === 'navigate'
  if (isOwn && (isNavigation || (site !== 'cross-site' && site !== 'same-site'))) return
  throw new PortError(
    403,
    'foreign_origin',
    'A page of another origin sent this request. Only pages of the port itself may send requests to it.',
  )
}

export interface PortLink {
  readonly token: string
  /** Where the link leads, without the token. */
  readonly path: string
}

/** The link in an address that a browser opens; null without one. */
export function linkIn({ method, url = '/' }: IncomingMessage): PortLink | null {
  const at = url.indexOf('?')
  if (method !== 'GET' || at < 0 || !url.includes(`${LINK_PARAMETER}=`)) return null
  const others: string[] = []
  let token: string | null = null
  for (const pair of url.slice(at + 1).split('&')) {
    if (pair.startsWith(`${LINK_PARAMETER}=`)) token = pair.slice(LINK_PARAMETER.length + 1)
    else others.push(pair)
  }
  return token === null ? null : { token, path: `${url.slice(0, at)}${others.length === 0 ? '' : `?${others.join('&')}`}` }
}

/** Throws PortError for a request that two parsers could understand differently. */
export function checkForm({ headersDistinct, url = '' }: IncomingMessage): void {
  if ((headersDistinct['host'] ?? []).length !== 1 || !url.startsWith('/'))
    throw new PortError(400, 'invalid_request', 'The request must have one Host header and a path. Send the address that you connected to.')
}
