import type { Duplex } from 'node:stream'
import type { buildConnector } from 'undici'
import type { SandboxLink } from '../../ports/sandbox-link.ts'
import type { SandboxAddress } from '../../model/sandboxes/sandbox.ts'
import { createHttpLink } from './http-link.ts'

/** Opens one byte stream to the supervisor inside the named container; rejects when it cannot. */
export type OpenRelay = (containerName: string) => Promise<Duplex>

const containerName = (address: SandboxAddress): string => {
  if (address.kind !== 'exec') throw new Error(`The exec link cannot reach a ${address.kind} address.`)
  return address.containerName
}

/** HTTP over relays that stay open, for engines whose shared folders carry no sockets (Docker Desktop). */
export const createExecLink = (openRelay: OpenRelay): SandboxLink =>
  createHttpLink({
    name: (address) => `exec:${containerName(address)}`,
    origin: () => 'http://sandbox',
    connector: (address) => (_options, callback) => {
      openRelay(containerName(address)).then(
        (stream) => callback(null, asSocket(stream)),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      )
    },
    keepAliveMs: 120_000,
  })

type ConnectedSocket = NonNullable<Parameters<buildConnector.Callback>[1]>

/** A duplex stream with the few methods of a socket that an HTTP client calls besides reading and writing. */
const asSocket = (stream: Duplex): ConnectedSocket =>
  Object.assign(stream, {
    ref: () => stream,
    unref: () => stream,
    setNoDelay: () => stream,
    setKeepAlive: () => stream,
  }) as unknown as ConnectedSocket
