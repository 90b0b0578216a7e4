import { LEASE_MS, LEASE_RENEW_MS } from '../../core/lease.ts'

/** Thrown inside a step whose row belongs to somebody else now: it stops at once and writes nothing more. */
export class LeaseLostError extends Error {
  constructor(id: string) {
    super(`The lease of ${id} was lost`)
    this.name = 'LeaseLost'
  }
}

/** Renews a lease while a step works; calls `onLost` once when a renewal is refused. A renewal that fails to be sent is tried again. */
export function startLeaseHeartbeat(
  renew: (expiresAt: number) => Promise<boolean>,
  now: () => number,
  onLost: () => void,
): { stop(): void } {
  const timer = setInterval(() => {
    renew(now() + LEASE_MS).then(
      (isKept) => {
        if (isKept) return
        clearInterval(timer)
        onLost()
      },
      () => undefined,
    )
  }, LEASE_RENEW_MS)
  return { stop: () => clearInterval(timer) }
}
