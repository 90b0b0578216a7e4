import { once } from 'node:events'
import { createServer, connect, isIP, type AddressInfo, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { NetworkAttachment, NetworkRequestReport } from '../../services/ports/network-gateway.ts'
import { CertificateIssuer, createAuthority } from '../../services/workers/gateway/certificates.ts'
import { ContainerProxy } from '../../services/workers/gateway/container-proxy.ts'
import { TenantBudget } from '../../services/workers/gateway/tenant-budget.ts'
import { Turns } from '../../services/workers/gateway/turns.ts'
import type { UpstreamOptions } from '../../services/workers/gateway/upstream.ts'
import { internetAuthority } from './mirror.ts'

/** What applies unless a test says otherwise: nothing is allowed. */
export const ATTACHMENT: NetworkAttachment = {
  tenant: 'ten_test',
  containerId: 'cntr_test',
  session: { sandboxId: 'sbx_test', address: { kind: 'unix', socketPath: '/nonexistent' }, privateKey: '' },
  rules: [],
  ceiling: [{ host: '*' }],
  deny: [],
  bytesLeft: null,
  limits: { connections: 50, requestsPerSecond: 1_000 },
  secrets: [],
}

export interface Answer {
  readonly status: number
  readonly phrase: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface TestProxy extends AsyncDisposable {
  readonly port: number
  readonly ca: string
  readonly proxy: ContainerProxy
  readonly reports: readonly NetworkRequestReport[]
  /** A plain connection to the proxy, as user code has it. */
  open(): Promise<Socket>
  /** CONNECT to `authority`, then TLS with the name `sni`. Rejects with the answer when CONNECT is refused. */
  tunnel(authority: string, sni?: string): Promise<TLSSocket>
  /** One request in a new tunnel to `host`. */
  fetch(host: string, head?: { readonly line?: string; readonly headers?: readonly string[]; readonly body?: string }): Promise<Answer>
}

/** The proxy of one container on a port of this machine, without a sandbox before it. */
export async function startProxy(attachment: Partial<NetworkAttachment>, upstream: Partial<UpstreamOptions> = {}): Promise<TestProxy> {
  const authority = await createAuthority(Date.now())
  const reports: NetworkRequestReport[] = []
  const whole = { ...ATTACHMENT, ...attachment }
  const proxy = new ContainerProxy(
    {
      issuer: new CertificateIssuer(authority),
      upstream: { extraCa: [(await internetAuthority()).certificate], privateHosts: {}, ...upstream },
      report: (report) => reports.push(report),
      turns: new Turns(),
      now: Date.now,
    },
    new TenantBudget(whole.limits, Date.now),
    whole,
  )
  const server = createServer((socket) => proxy.serve(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const open = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }
  const tunnel: TestProxy['tunnel'] = async (authorityName, sni = nameOf(authorityName)) => {
    const socket = await open()
    socket.write(`CONNECT ${authorityName} HTTP/1.1\r\nHost: ${authorityName}\r\n\r\n`)
    const head = String((await once(socket, 'data'))[0])
    if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(head.slice(0, head.indexOf('\r\n')))
    const secure = connectTls({
      socket,
      servername: sni,
      ca: authority.certificate,
      // The proxy has to notice, whatever a client checks.
      checkServerIdentity: () => undefined,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    secure.on('error', () => undefined)
    await once(secure, 'secureConnect')
    return secure
  }
  return {
    ...{ port, ca: authority.certificate, proxy, reports, open, tunnel },
    async fetch(host, { line = 'GET / HTTP/1.1', headers = [`Host: ${host}`], body = '' } = {}) {
      const secure = await tunnel(`${host}:443`)
      secure.write([line, ...headers, 'Connection: close', '', body].join('\r\n'))
      return parseAnswer(await readAll(secure))
    },
    async [Symbol.asyncDispose]() {
      proxy.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The name that a client asks for: none for an address. */
function nameOf(authority: string): string {
  const host = authority.replace(/:\d+$/, '')
  return isIP(host) === 0 ? host : ''
}

/** Everything until the other side closes, also abruptly. */
export async function readAll(socket: Socket): Promise<string> {
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => parts.push(part))
  await once(socket, 'close')
  return Buffer.concat(parts).toString('latin1')
}

export function parseAnswer(text: string): Answer {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const [, status = '0', phrase = ''] = /^HTTP\/1\.1 (\d+) (.*)$/.exec(first) ?? []
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
  const raw = text.slice(end + 4)
  return { status: Number(status), phrase, headers, body: headers['transfer-encoding'] === 'chunked' ? joinChunks(raw) : raw }
}

function joinChunks(raw: string): string {
  let body = ''
  for (let at = 0; at < raw.length;) {
    const line = raw.indexOf('\r\n', at)
    const size = Number.parseInt(raw.slice(at, line), 16)
    if (!(size > 0)) break
    body += raw.slice(line + 2, line + 2 + size)
    at = line + 2 + size + 2
  }
  return body
}
