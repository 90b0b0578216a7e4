import { buildConnector } from 'undici'
import type { SandboxLink } from '../../ports/sandbox-link.ts'
import type { SandboxAddress } from '../../model/sandboxes/sandbox.ts'
import { createHttpLink } from './http-link.ts'

const socketPath = (address: SandboxAddress): string => {
  if (address.kind !== 'unix') throw new Error(`The Unix link cannot reach a ${address.kind} address.`)
  return address.socketPath
}

/** HTTP over a Unix socket in a folder that host and sandbox share. */
export const createUnixLink = (): SandboxLink =>
  createHttpLink({
    name: (address) => `unix:${socketPath(address)}`,
    origin: () => 'http://sandbox',
    connector: (address) => buildConnector({ socketPath: socketPath(address), timeout: 5_000 }),
    keepAliveMs: 120_000,
  })
