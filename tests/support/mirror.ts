import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import { CertificateIssuer, createAuthority, type Authority } from '../../services/workers/gateway/certificates.ts'

/** A server of the internet, as the gateway sees it: on loopback, with a certificate of the test's own authority. */
export interface Mirror extends AsyncDisposable {
  readonly port: number
  /** Connections so far, whatever came over them. */
  readonly connections: () => number
}

let authority: Promise<Authority> | null = null
/** Made once per process. The gateway trusts it as an operator's extra authority. */
export const internetAuthority = (): Promise<Authority> => (authority ??= createAuthority(Date.now()))

/** Serves TLS for every name of `hosts`; the certificate is chosen by the name that the client asks for. */
export async function startMirror(hosts: readonly string[], listener: RequestListener): Promise<Mirror> {
  const issuer = new CertificateIssuer(await internetAuthority())
  const server = createHttpsServer(
    {
      SNICallback: (name, callback) => {
        if (!hosts.includes(name)) return callback(new Error(`There is no certificate for ${name}.`))
        issuer.contextOf(name).then((context) => callback(null, context), callback)
      },
    },
    listener,
  )
  return listen(server, () => server.closeAllConnections())
}

/** Serves TLS for an address, for which clients ask without a name. */
export async function startAddressMirror(address: string, listener: RequestListener): Promise<Mirror> {
  const secureContext = await new CertificateIssuer(await internetAuthority()).contextOf(address)
  const inner = createHttpServer(listener)
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    const secure = new TLSSocket(socket, { isServer: true, secureContext })
    secure.on('error', () => secure.destroy())
    inner.emit('connection', secure)
  })
  return listen(server, () => inner.closeAllConnections())
}

export function startPlainMirror(listener: RequestListener): Promise<Mirror> {
  const server = createHttpServer(listener)
  return listen(server, () => server.closeAllConnections())
}

async function listen(server: TcpServer, closeAll: () => void): Promise<Mirror> {
  let count = 0
  server.on('connection', () => (count += 1))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => count,
    async [Symbol.asyncDispose]() {
      closeAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
