import type { Duplex } from 'node:stream'
import { Pool, type buildConnector } from 'undici'
import type { ByteStream } from '../../model/byte-stream.ts'
import { LinkError, type LinkRequest, type LinkResponse, type SandboxLink } from '../../ports/sandbox-link.ts'
import type { SandboxAddress } from '../../model/sandboxes/sandbox.ts'

/** The name that PROTOCOL.md gives to a connection that carries bytes after its head. */
const UPGRADE_PROTOCOL = 'cellblock-stream'
/** Maximum number of concurrent requests to one sandbox; further ones wait for a connection. */
const MAX_CONNECTIONS = 96

export interface Transport {
  /** Addresses with the same name share connections. */
  readonly name: (address: SandboxAddress) => string
  /** Value of the Host header, as an origin. */
  readonly origin: (address: SandboxAddress) => string
  readonly connector: (address: SandboxAddress) => buildConnector.connector
  /** An idle connection is closed after this many milliseconds. */
  readonly keepAliveMs: number
}

/**
 * HTTP/1.1 with kept-open connections over any transport. It sets no time limit: streams may be silent for as long as code
 * runs, so the caller's signal decides. A failed connect is `refused`; everything after it is `broken`.
 */
export function createHttpLink(transport: Transport): SandboxLink {
  const pools = new Map<string, Pool>()

  const poolOf = (address: SandboxAddress): Pool => {
    const name = transport.name(address)
    const known = pools.get(name)
    if (known) return known
    const pool = new Pool(transport.origin(address), {
      connect: refusing(transport.connector(address), name),
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: transport.keepAliveMs,
      keepAliveMaxTimeout: transport.keepAliveMs,
    })
    // A pool without a connection is removed, so the map contains live sandboxes only.
    const forget = (): void => {
      if (pool.stats.connected + pool.stats.pending + pool.stats.running > 0 || pools.get(name) !== pool) return
      pools.delete(name)
      pool.close().catch(() => undefined)
    }
    pool.on('disconnect', () => setImmediate(forget))
    pool.on('connectionError', () => setImmediate(forget))
    pools.set(name, pool)
    return pool
  }

  return {
    async request(address, request, signal) {
      signal.throwIfAborted()
      return exchange(poolOf(address), request, signal)
    },
    async upgrade(address, request, signal) {
      signal.throwIfAborted()
      return upgrade(poolOf(address), request, signal)
    },
    async close(address) {
      const names = address === undefined ? [...pools.keys()] : [transport.name(address)]
      await Promise.all(
        names.map(async (name) => {
          const pool = pools.get(name)
          if (!pool) return
          pools.delete(name)
          const isIdle = pool.stats.pending + pool.stats.running === 0
          const closing = pool.close().catch(() => undefined)
          // A running exchange closes its connection when it ends.
          if (isIdle) await closing
        }),
      )
    },
  }
}

async function exchange(pool: Pool, request: LinkRequest, signal: AbortSignal): Promise<LinkResponse> {
  try {
    const answer = await pool.request({
      path: request.target,
      method: request.method,
      headers: request.headers,
      body: request.body instanceof Uint8Array || request.body === undefined ? (request.body ?? null) : toUndiciBody(request.body),
      signal,
    })
    return {
      status: answer.statusCode,
      headers: flatten(answer.headers),
      body: mapErrors(answer.body, signal),
      trailers: () => flatten(answer.trailers),
    }
  } catch (error) {
    throw toLinkError(error, signal)
  }
}

async function upgrade(pool: Pool, { target, method, headers }: LinkRequest, signal: AbortSignal): Promise<Duplex> {
  try {
    const { socket } = await pool.upgrade({ path: target, method, headers, protocol: UPGRADE_PROTOCOL, signal })
    return socket
  } catch (error) {
    throw toLinkError(error, signal)
  }
}

/** Undici's types require a Readable; its code accepts any async iterable and reads it at the speed of the socket. */
const toUndiciBody = (body: ByteStream): never => body as never

async function* mapErrors(body: AsyncIterable<Uint8Array>, signal: AbortSignal): ByteStream {
  try {
    for await (const chunk of body) yield chunk
  } catch (error) {
    throw toLinkError(error, signal)
  }
}

function toLinkError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof LinkError) return error
  const why = error instanceof Error ? error.message : String(error)
  return new LinkError('broken', `The connection to the sandbox ended in the middle: ${why}`, { cause: error })
}

const flatten = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]))

/** A failure before the connection exists: the sandbox received no byte. */
const refusing =
  (connect: buildConnector.connector, name: string): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) return callback(null, socket)
      callback(new LinkError('refused', `No supervisor answers at ${name}: ${error.message}`, { cause: error }), null)
    })
