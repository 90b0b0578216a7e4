import { buildConnector } from 'undici'
import type { SandboxLink } from '../../ports/sandbox-link.ts'
import type { SandboxAddress } from '../../model/sandboxes/sandbox.ts'
import { createHttpLink } from './http-link.ts'

const endpoint = (address: SandboxAddress): string => {
  if (address.kind !== 'tcp') throw new Error(`The TCP link cannot reach a ${address.kind} address.`)
  return `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`
}

/** HTTP to the private address of a sandbox. Idle connections are closed early, so that a function that was frozen does not use a dead one. */
export const createTcpLink = (): SandboxLink =>
  createHttpLink({
    name: (address) => `tcp:${endpoint(address)}`,
    origin: (address) => `http://${endpoint(address)}`,
    connector: () => buildConnector({ timeout: 5_000 }),
    keepAliveMs: 10_000,
  })
