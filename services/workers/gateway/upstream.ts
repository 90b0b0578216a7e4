import { Agent as HttpAgent, request as requestHttp, type ClientRequest, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { checkServerIdentity, createSecureContext, getCACertificates, type ConnectionOptions } from 'node:tls'
import { RefusedAddressError, safeLookup, type Resolve } from '../../operations/webhooks/safe-lookup.ts'
import type { Headers } from './secrets.ts'

const CONNECT_MS = 10_000
const SILENCE_MS = 300_000
const MAX_IDLE = 8

/** A host with a private address that the operator allows. With `address` it is not resolved. */
export interface PrivateHost {
  readonly address?: string | undefined
  readonly port?: number | undefined
}

export interface UpstreamOptions {
  /** Certificates, PEM, that are trusted besides those of the system. */
  readonly extraCa: readonly string[]
  readonly privateHosts: Readonly<Record<string, PrivateHost>>
  /** How names are resolved; the system's way without it. */
  readonly resolve?: Resolve | undefined
}

export interface Target {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  readonly method: string
  /** Path and query as they were sent. */
  readonly path: string
  readonly headers: Headers
}

let systemContext: { readonly extra: string; readonly context: ReturnType<typeof createSecureContext> } | null = null

/** Made once per process: the list of authorities is long. As an option `ca` it would be part of the name under which an agent keeps each connection. */
function contextOf(extraCa: readonly string[]): ReturnType<typeof createSecureContext> {
  const extra = extraCa.join('\n')
  if (systemContext?.extra !== extra) {
    const ca = [...new Set([...getCACertificates('default'), ...getCACertificates('system'), ...extraCa])]
    systemContext = { extra, context: createSecureContext({ ca, minVersion: 'TLSv1.2' }) }
  }
  return systemContext.context
}

/** Connections of one container to the internet. Each name is resolved once per connection, checked, and exactly the checked address is dialled. */
export class Upstream {
  readonly #options: UpstreamOptions
  readonly #deny: readonly string[]
  readonly #http: HttpAgent
  readonly #https: HttpsAgent

  /** `deny`: addresses and ranges that no name may lead to. */
  constructor(options: UpstreamOptions, deny: readonly string[]) {
    this.#options = options
    this.#deny = deny
    const shared = { keepAlive: true, maxFreeSockets: MAX_IDLE, lookup: this.#lookup }
    this.#http = new HttpAgent(shared)
    this.#https = new HttpsAgent({ ...shared, secureContext: contextOf(options.extraCa), rejectUnauthorized: true })
  }

  /** The caller sends the body. An error before the answer is reported by the event `error`. */
  request({ host, port, isSecure, method, path, headers }: Target): ClientRequest {
    const own = this.#options.privateHosts[host]
    // An address is not looked up, so it is replaced here.
    const isAddress = isIP(host) !== 0
    const options: RequestOptions & Pick<ConnectionOptions, 'servername' | 'checkServerIdentity'> = {
      host: isAddress ? (own?.address ?? host) : host,
      // TLS has no names that are addresses.
      servername: isAddress ? '' : host,
      checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
      port: own?.port ?? port,
      method,
      path,
      headers: { ...headers, host },
      agent: isSecure ? this.#https : this.#http,
    }
    const request = isSecure ? requestHttps(options) : requestHttp(options)
    request.once('socket', (socket) => {
      if (!socket.connecting) return
      const timer = setTimeout(() => request.destroy(new Error('It did not accept the connection in time.')), CONNECT_MS)
      for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer))
    })
    request.setTimeout(SILENCE_MS, () => request.destroy(new Error('It was silent for too long.')))
    return request
  }

  close(): void {
    this.#http.destroy()
    this.#https.destroy()
  }

  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    const own = this.#options.privateHosts[hostname]
    if (own?.address === undefined)
      return safeLookup({ allowedHosts: own === undefined ? [] : [hostname], deny: this.#deny, resolve: this.#options.resolve })(
        hostname,
        options,
        callback,
      )
    const family = isIP(own.address)
    if (options.all === true) callback(null, [{ address: own.address, family }])
    else callback(null, own.address, family)
  }
}

/** Why a host gave no answer, for a program: one sentence, and the status of the answer. */
export function describeFailure(
  host: string,
  error: Error & { readonly code?: string },
): { readonly status: number; readonly reason: string } {
  if (error instanceof RefusedAddressError) return { status: 403, reason: error.message }
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') return { status: 502, reason: `The name ${host} could not be resolved.` }
  if (error.code?.includes('CERT') === true || error.code?.includes('SELF_SIGNED') === true || error.code?.startsWith('UNABLE_TO') === true)
    return { status: 502, reason: `The certificate of ${host} is not valid: ${error.message}.` }
  return { status: 502, reason: `${host} gave no answer: ${error.message}` }
}
