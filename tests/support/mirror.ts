import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
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
  return listen(server)
}

export const startPlainMirror = (listener: RequestListener): Promise<Mirror> => listen(createHttpServer(listener))

async function listen(server: Server): Promise<Mirror> {
  let count = 0
  server.on('connection', () => (count += 1))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => count,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
