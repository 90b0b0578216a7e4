import { mkdtempSync } from 'node:fs'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExecLink } from '../../services/adapters/link/exec-link.ts'
import { createSandboxLink } from '../../services/adapters/link/create-sandbox-link.ts'
import { createTcpLink } from '../../services/adapters/link/tcp-link.ts'
import { createUnixLink } from '../../services/adapters/link/unix-link.ts'
import { sandboxLinkContract, type LinkContractSetup } from './sandbox-link.ts'

const overUnix = (link: LinkContractSetup['link']): LinkContractSetup => {
  const folder = mkdtempSync(join(tmpdir(), 'link-'))
  const socketPath = join(folder, 's.sock')
  return {
    link,
    listen: { path: socketPath },
    address: () => ({ kind: 'unix', socketPath }),
    noListener: { kind: 'unix', socketPath: join(folder, 'noListener.sock') },
  }
}

const overTcp = (link: LinkContractSetup['link'], host: string): LinkContractSetup => ({
  link,
  listen: { host, port: 0 },
  address: (server) => ({ kind: 'tcp', host, port: (server.address() as AddressInfo).port }),
  noListener: { kind: 'tcp', host, port: 1 },
})

/** The relay here is a connection to a Unix socket whose path stands for the container's name. */
const overRelay = (): LinkContractSetup => {
  const { listen, noListener } = overUnix(createUnixLink())
  const link = createExecLink(
    (containerName) =>
      new Promise((resolve, reject) => {
        const socket = connect(containerName, () => resolve(socket))
        socket.once('error', reject)
      }),
  )
  const path = (address: LinkContractSetup['noListener']): string => (address.kind === 'unix' ? address.socketPath : '')
  return {
    link,
    listen,
    address: () => ({ kind: 'exec', containerName: listen.path ?? '' }),
    noListener: { kind: 'exec', containerName: path(noListener) },
  }
}

sandboxLinkContract('unix', () => overUnix(createUnixLink()))
sandboxLinkContract('tcp', () => overTcp(createTcpLink(), '127.0.0.1'))
sandboxLinkContract('exec', overRelay)
sandboxLinkContract('chosen by address', () => overUnix(createSandboxLink()))
