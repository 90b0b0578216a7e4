import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { CertificateIssuer } from '../../../services/workers/gateway/certificates.ts'
import { internetAuthority } from '../../support/mirror.ts'

/** The way of visitors to the host names of sandboxes. */
interface Visitors extends AsyncDisposable {
  /** Of a proxy for programs with `HTTPS_PROXY`, so that no name has to be resolved. */
  readonly url: string
  leadTo(serverPort: number): void
}

/** What a proxy with a wildcard certificate is in front of a server: it ends TLS for names below the domain and passes the bytes on. */
export async function startVisitors(domain: string): Promise<Visitors> {
  const issuer = new CertificateIssuer(await internetAuthority())
  let target = 0
  const proxy = createServer((_, response) => response.writeHead(502).end())
  proxy.on('connect', (request, socket) => {
    socket.on('error', () => undefined)
    const host = (request.url ?? '').replace(/:\d+$/, '')
    if (!host.endsWith(`.${domain}`)) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    void issuer.contextOf(host).then((secureContext) => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      const secure = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
      const server = connect(target, '127.0.0.1')
      pipeline(secure, server, () => undefined)
      pipeline(server, secure, () => undefined)
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    leadTo: (serverPort) => void (target = serverPort),
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
