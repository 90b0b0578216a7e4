import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { parsePortHost, type PortHost } from '../../model/containers/container-label.ts'
import { isSuspended, type Container } from '../../model/containers/container.ts'
import { ServiceError } from '../../model/errors.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'
import type { PublishedPorts } from '../../operations/containers/published-ports.ts'
import type { LimitReader } from '../../operations/tenancy/limit-reader.ts'
import type { RequestLimiter } from '../../operations/tenancy/request-limiter.ts'
import { LinkError } from '../../ports/sandbox-link.ts'
import { SupervisorError, type Supervisor } from '../../ports/supervisor.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { ApiDeps } from '../deps.ts'
import { RoundRobin } from '../round-robin.ts'
import { hostNameOf } from '../public-url.ts'
import type { WireHosts } from '../wire-hosts.ts'
import { OpenExchanges, type ReviewOptions } from './open-exchanges.ts'
import { checkForm, checkOrigin, linkIn, PortAccess, RuleRefusal, type PortLink, type Visit } from './port-access.ts'
import { answerError, hibernated, notOpened, nothingListens, PortError } from './port-error.ts'
import { PortExchange, type Messages } from './port-exchange.ts'
import { originOf, type PortAddress } from './port-headers.ts'
import type { PortRule } from './port-rule.ts'
import { PortSlots } from './port-slots.ts'

/** Open connections of this process. */
const CAPACITY = 1_000
/** A program accepts a connection within this time, milliseconds. */
const CONNECT_MS = 10_000

export interface PortProxyOptions extends ReviewOptions {
  readonly api: Pick<ApiDeps, 'table' | 'clock' | 'config'>
  readonly published: PublishedPorts
  readonly supervisor: Pick<Supervisor, 'connectPort'>
  readonly limits: Pick<LimitReader, 'of'>
  readonly requests: RequestLimiter
  readonly telemetry: Telemetry
  readonly rules: readonly PortRule[]
  /** Hosts of wires, which come before ports. */
  readonly wireHosts: readonly WireHosts[]
  /** Domains of ports, without the port of the server. */
  readonly domains: readonly string[]
  readonly isHttps: boolean
  /** Pages that may frame a port, as `frame-ancestors` has them. */
  readonly pages: readonly string[]
  /** Continues a container whose processes are kept. Throws ServiceError. */
  readonly wake: (container: Container, signal: AbortSignal) => Promise<void>
}

/** The sandbox of a container, for calls of its supervisor; null while it has none. */
export async function supervisorSessionOf(
  table: Pick<ApiDeps['table'], 'sandboxes'>,
  { sandboxId }: Container,
): Promise<SandboxSession | null> {
  const sandbox = sandboxId === null ? null : await table.sandboxes.get(sandboxId)
  if (sandbox === null || sandbox.address === null || sandbox.state !== 'claimed') return null
  return { sandboxId: sandbox.id, address: sandbox.address, privateKey: sandbox.privateKey }
}

type Identified = (tenant: string) => void

interface Forwarding {
  readonly visit: Visit
  readonly address: PortAddress
  readonly program: Duplex
  /** Frees the place of the connection. */
  readonly leave: () => void
  /** Aborts when the visitor has left. */
  readonly left: AbortSignal
}

/** Serves ports of sandboxes, each on its own origin. */
export class PortProxy {
  readonly #options: PortProxyOptions
  readonly #access: PortAccess
  readonly #slots = new PortSlots(CAPACITY)
  readonly #arrivals = new RoundRobin()
  readonly #exchanges: OpenExchanges
  readonly #secretHeaders: readonly string[]
  readonly #policy: string

  constructor(options: PortProxyOptions) {
    this.#options = options
    this.#access = new PortAccess(options)
    this.#secretHeaders = options.rules.flatMap(({ secretHeaders }) => secretHeaders)
    this.#policy = `frame-ancestors ${["'self'", ...options.pages].join(' ')}`
    this.#exchanges = new OpenExchanges(this.#access, options)
  }

  /** Whether the request is for a port. Nothing else of the server answers for these hosts. */
  serves(incoming: IncomingMessage): boolean {
    return this.#hostOf(incoming) !== null
  }

  /** `identified` is called with the tenant of the port when the visitor has a valid credential. */
  async serve(incoming: IncomingMessage, outgoing: ServerResponse, identified: Identified): Promise<void> {
    await this.#serve({ incoming, outgoing, upgrade: null }, identified)
  }

  /** Serves a request for a WebSocket on its connection, which no parser reads any more. */
  async upgrade(incoming: IncomingMessage, { socket, head }: NonNullable<Messages['upgrade']>, identified: Identified): Promise<void> {
    socket.on('error', () => socket.destroy())
    const outgoing = new ServerResponse(incoming)
    outgoing.shouldKeepAlive = false
    outgoing.assignSocket(socket as Socket)
    outgoing.once('finish', () => socket.end())
    await this.#serve({ incoming, outgoing, upgrade: { socket, head } }, identified)
  }

  close(): void {
    this.#exchanges.close()
  }

  #hostOf({ headers }: IncomingMessage): PortHost | null {
    const name = hostNameOf(headers.host ?? '')
    if (this.#options.wireHosts.some(({ pattern }) => pattern.test(name))) return null
    const host = parsePortHost(name)
    return host !== null && this.#options.domains.includes(host.domain) ? host : null
  }

  async #serve(messages: Messages, identified: Identified): Promise<void> {
    const { incoming, outgoing } = messages
    const host = this.#hostOf(incoming)
    const startedAt = performance.now()
    const fields: Record<string, string | number | null> = host === null ? {} : { port: host.port }
    const left = new AbortController()
    outgoing.once('close', () => {
      left.abort()
      const { statusCode: status } = outgoing
      const outcome = status < 400 ? 'ok' : status < 500 ? 'refused' : 'failed'
      const duration = Math.round(performance.now() - startedAt)
      this.#options.telemetry.emit({ ...fields, event: 'port.request', outcome, status, duration_ms: duration })
    })
    try {
      if (host === null) throw notOpened()
      await this.#admit(messages, host, { fields, identified, left: left.signal })
    } catch (error) {
      this.#refuse(messages, error)
    }
  }

  async #admit(
    messages: Messages,
    host: PortHost,
    {
      fields,
      identified,
      left,
    }: {
      readonly fields: Record<string, string | number | null>
      readonly identified: Identified
      readonly left: AbortSignal
    },
  ): Promise<void> {
    const { incoming, outgoing } = messages
    checkForm(incoming)
    const address: PortAddress = {
      port: host.port,
      host: (incoming.headers.host ?? '').toLowerCase(),
      scheme: this.#options.isHttps ? 'https' : 'http',
    }
    await this.#arrivals.enter(incoming.socket.remoteAddress ?? '', outgoing)
    if (left.aborted) return
    const link = linkIn(incoming)
    if (link !== null) return this.#redeem(messages, { host, address, link, identified })
    const visit = await this.#access.visit(host, incoming.headers)
    const { tenant } = host
    Object.assign(fields, { tenant, container_id: host.containerId })
    checkOrigin(visit, { method: incoming.method, headers: incoming.headers, host: address.host })
    identified(tenant)
    await this.#arrivals.enter(tenant, outgoing)
    if (left.aborted) return
    await this.#checkRate(tenant)
    const leave = this.#slots.take(tenant, (await this.#options.limits.of(tenant)).portConnections)
    try {
      const program = await this.#connect(visit, left)
      this.#forward(messages, { visit, address, program, leave, left })
    } catch (error) {
      leave()
      throw error
    }
  }

  async #redeem(
    { incoming, outgoing }: Messages,
    {
      host,
      address,
      link,
      identified,
    }: {
      readonly host: PortHost
      readonly address: PortAddress
      readonly link: PortLink
      readonly identified: Identified
    },
  ): Promise<void> {
    const isFrame = incoming.headers['sec-fetch-dest'] === 'iframe'
    const cookie = await this.#access.redeem(host, link.token, { isFrame, isHttps: this.#options.isHttps })
    identified(host.tenant)
    outgoing.writeHead(303, {
      location: `${originOf(address)}${link.path}`,
      'set-cookie': cookie,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-length': 0,
    })
    outgoing.end()
  }

  async #checkRate(tenant: string): Promise<void> {
    const refusal = await this.#options.requests.take(tenant)
    if (refusal === null) return
    const { limit, retryAfterSeconds } = refusal
    throw new PortError(
      429,
      'rate_limit_exceeded',
      `This account gets more than ${limit} requests per second (limit requests_per_second). Wait ${retryAfterSeconds} s, then send fewer.`,
    ).after(retryAfterSeconds)
  }

  /** A connection to the program. Throws PortError. */
  async #connect({ host, container }: Visit, left: AbortSignal): Promise<Duplex> {
    const signal = AbortSignal.any([left, AbortSignal.timeout(CONNECT_MS)])
    try {
      if (isSuspended(container)) await this.#options.wake(container, signal)
      const session = await this.#sessionOf(container)
      const program = await this.#options.supervisor.connectPort(session, host.port, signal)
      if (!left.aborted) return program
      program.destroy()
      throw hibernated()
    } catch (error) {
      if (error instanceof SupervisorError && error.code === 'not_found') throw nothingListens(host.port)
      if (error instanceof PortError) throw error
      // A sandbox that could not be resumed.
      if (error instanceof ServiceError) throw new PortError(503, 'sandbox_busy', error.message).after(1)
      if (error instanceof SupervisorError || error instanceof LinkError || signal.aborted)
        throw new PortError(
          503,
          'sandbox_busy',
          'The sandbox of this port accepts no further connection now. Try again in a moment.',
        ).after(1)
      throw error
    }
  }

  async #sessionOf(container: Container): Promise<SandboxSession> {
    const session = await supervisorSessionOf(this.#options.api.table, container)
    if (session === null) throw hibernated()
    return session
  }

  #forward(messages: Messages, { visit, address, program, leave, left }: Forwarding): void {
    const exchange = new PortExchange(messages, program, {
      address: { ...address, program: visit.program },
      left,
      secretHeaders: this.#secretHeaders,
      // Anyone may reach what a rule opens without a credential, so anyone may frame it.
      policy: visit.opening === 'cookie' ? this.#policy : null,
      onError: (error) => this.#refuse(messages, error),
      onEnd: () => {
        remove()
        leave()
      },
    })
    const remove = this.#exchanges.add(exchange, { visit, headers: messages.incoming.headers })
    exchange.start()
  }

  #refuse({ incoming, outgoing, upgrade }: Messages, error: unknown): void {
    if (error instanceof RuleRefusal) return void answerRule(outgoing, error.response)
    const shown = error instanceof PortError ? error : new PortError(500, 'internal_error', 'Internal error. Try again.')
    if (!(error instanceof PortError)) this.#options.telemetry.emit({ event: 'port.request', outcome: 'error', detail: String(error) })
    answerError(outgoing, shown, { accept: upgrade === null ? incoming.headers.accept : undefined, policy: this.#policy })
  }
}

async function answerRule(outgoing: ServerResponse, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer())
  if (outgoing.destroyed) return
  outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), 'content-length': body.length, connection: 'close' })
  outgoing.end(body)
}
