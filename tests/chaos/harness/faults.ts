import { DriverError, type SandboxDriver } from '../../../services/ports/sandbox-driver.ts'
import type { StorageClients } from '../../../services/adapters/storage/clients.ts'
import type { History } from '../history.ts'

const KINDS = ['throttle', 'server_error', 'timeout', 'reply_lost'] as const
type Kind = (typeof KINDS)[number]

export interface Faults {
  /** Share of calls that fail, 0 to 1. */
  rate: number
  readonly history: History
  /** Uniform from 0 to 1; the same sequence for the same seed. */
  readonly random: () => number
}

/** The kind of the next call's fault; null for a call that succeeds. */
export const drawFault = (faults: Faults): Kind | null =>
  faults.random() >= faults.rate ? null : (KINDS[Math.floor(faults.random() * KINDS.length)] as Kind)

/** The error that the SDK derives from such a reply. The SDK's own retries handle it first, as in production. */
function errorOf(kind: Kind, service: string): Error {
  if (kind === 'throttle') {
    const name = service === 's3' ? 'SlowDown' : 'ThrottlingException'
    return Object.assign(new Error('Rate exceeded'), { name, $metadata: { httpStatusCode: 400 }, $retryable: { throttling: true } })
  }
  if (kind === 'server_error')
    return Object.assign(new Error('Internal server error'), {
      name: 'InternalServerError',
      $fault: 'server',
      $metadata: { httpStatusCode: 500 },
    })
  return Object.assign(new Error('The connection was reset'), { name: 'TimeoutError', $metadata: {}, $retryable: {} })
}

/** The part of the middleware stack that all clients share. */
interface Stack {
  add(
    middleware: (next: (args: unknown) => Promise<unknown>) => (args: unknown) => Promise<unknown>,
    options: { readonly step: 'deserialize'; readonly priority: 'high'; readonly name: string },
  ): void
}

/** Injects faults below the retries of the SDK's clients. Call it before a client sends its first request. */
export function injectFaults(clients: StorageClients, faults: Faults): void {
  const inject = (service: 'dynamodb' | 'sqs' | 's3', stack: Stack): void =>
    stack.add(
      (next) => async (args) => {
        const kind = drawFault(faults)
        if (kind === null) return next(args)
        faults.history.add({ type: 'fault', service, kind })
        if (kind === 'reply_lost') await next(args)
        throw errorOf(kind, service)
      },
      { step: 'deserialize', priority: 'high', name: 'chaos' },
    )
  for (const service of ['dynamodb', 'sqs', 's3'] as const) inject(service, clients[service].middlewareStack as unknown as Stack)
}

/** The number of attempts per call that the SDK makes below a driver. */
const DRIVER_ATTEMPTS = 3

/** A driver that is throttled, out of capacity, unavailable, or loses replies. */
export function faultyDriver(driver: SandboxDriver, faults: Faults): SandboxDriver {
  const around = async <T>(call: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      const kind = drawFault(faults)
      if (kind === null) return call()
      faults.history.add({ type: 'fault', service: 'driver', kind })
      if (kind === 'reply_lost') await call()
      // A lack of capacity is a final reply: the SDK does not retry it.
      if (kind === 'throttle' && faults.random() < 0.5) throw new DriverError('capacity', 'Try again later.')
      if (attempt < DRIVER_ATTEMPTS) continue
      throw kind === 'throttle'
        ? new DriverError('throttled', 'Try again later.')
        : new DriverError('unavailable', 'The platform is unavailable.')
    }
  }
  return {
    ...driver,
    start: (spec, signal) => around(() => driver.start(spec, signal)),
    inspect: (id) => around(() => driver.inspect(id)),
    inspectAll: (sandboxes) => around(() => driver.inspectAll(sandboxes)),
    stop: (id) => around(() => driver.stop(id)),
  }
}
