import { DriverError, type SandboxDriver } from '../../../services/core/ports/sandbox-driver.ts'
import type { StorageClients } from '../../../services/storage/clients.ts'
import type { History } from '../history.ts'

const KINDS = ['throttle', 'server_error', 'timeout', 'reply_lost'] as const
type Kind = (typeof KINDS)[number]

export interface Faults {
  /** Share of calls that go wrong, 0 to 1. */
  rate: number
  readonly history: History
  /** From 0 to 1, the same row of numbers for the same seed. */
  readonly random: () => number
}

/** Numbers that look like chance and come again with the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const pick = (faults: Faults): Kind | null =>
  faults.random() >= faults.rate ? null : (KINDS[Math.floor(faults.random() * KINDS.length)] as Kind)

/** What the SDK makes of such an answer; its own retries come first, as in production. */
function errorOf(kind: Kind, service: string): Error {
  if (kind === 'throttle') {
    const name = service === 's3' ? 'SlowDown' : 'ThrottlingException'
    return Object.assign(new Error('Rate exceeded'), { name, $metadata: { httpStatusCode: 400 }, $retryable: { throttling: true } })
  }
  if (kind === 'server_error')
    return Object.assign(new Error('We had a fault'), { name: 'InternalServerError', $fault: 'server', $metadata: { httpStatusCode: 500 } })
  return Object.assign(new Error('The connection was reset'), { name: 'TimeoutError', $metadata: {}, $retryable: {} })
}

/** What the stacks of all clients have in common. */
interface Stack {
  add(
    middleware: (next: (args: unknown) => Promise<unknown>) => (args: unknown) => Promise<unknown>,
    options: { readonly step: 'deserialize'; readonly priority: 'high'; readonly name: string },
  ): void
}

/** Puts faults under the SDK's clients, inside their retries. For clients that have sent nothing yet. */
export function injectFaults(clients: StorageClients, faults: Faults): void {
  const inject = (service: 'dynamodb' | 'sqs' | 's3', stack: Stack): void =>
    stack.add(
      (next) => async (args) => {
        const kind = pick(faults)
        if (kind === null) return next(args)
        faults.history.add({ type: 'fault', service, kind })
        if (kind === 'reply_lost') await next(args)
        throw errorOf(kind, service)
      },
      { step: 'deserialize', priority: 'high', name: 'chaos' },
    )
  for (const service of ['dynamodb', 'sqs', 's3'] as const) inject(service, clients[service].middlewareStack as unknown as Stack)
}

/** The SDK under a driver tries a call so often, as it does under the other ports. */
const DRIVER_TRIES = 3

/** A driver that is throttled, full, broken, or loses its answers. */
export function faultyDriver(driver: SandboxDriver, faults: Faults): SandboxDriver {
  const around = async <T>(call: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      const kind = pick(faults)
      if (kind === null) return call()
      faults.history.add({ type: 'fault', service: 'driver', kind })
      if (kind === 'reply_lost') await call()
      // That there is no room is an answer, and no fault of the call.
      if (kind === 'throttle' && faults.random() < 0.5) throw new DriverError('capacity', 'Not now.')
      if (tries < DRIVER_TRIES) continue
      throw kind === 'throttle' ? new DriverError('throttled', 'Not now.') : new DriverError('unavailable', 'The platform had a fault.')
    }
  }
  return {
    ...driver,
    start: (spec, signal) => around(() => driver.start(spec, signal)),
    inspect: (id) => around(() => driver.inspect(id)),
    stop: (id) => around(() => driver.stop(id)),
  }
}
