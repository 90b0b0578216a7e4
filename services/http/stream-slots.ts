import { ServiceError } from '../model/errors.ts'
import { admitsShare, shareOf } from '../model/tenants/share.ts'
import { NO_HOLD, type Holds } from '../operations/tenancy/hold.ts'
import type { LimitReader } from '../operations/tenancy/limit-reader.ts'

/** Event streams that are open in this process. */
export interface StreamSlots {
  readonly open: number
  /** Open streams of one tenant. */
  openOf(tenant: string): number
  /**
   * Reserves a stream and returns a function that releases it; further calls of that function have no effect. `max` is the tenant's limit; from half of the
   * capacity on, the tenant also needs a place of its share. Throws ServiceError `too_many_streams`; the refused call has no effect, and running work continues.
   */
  take(tenant: string, max: number): () => void
}

export function createStreamSlots(capacity: number): StreamSlots {
  let open = 0
  const byTenant = new Map<string, number>()
  const openOf = (tenant: string): number => byTenant.get(tenant) ?? 0
  const add = (tenant: string, change: 1 | -1): void => {
    open += change
    const count = openOf(tenant) + change
    if (count === 0) byTenant.delete(tenant)
    else byTenant.set(tenant, count)
  }
  return {
    get open() {
      return open
    },
    openOf,
    take: (tenant, max) => {
      if (openOf(tenant) >= max)
        throw new ServiceError(
          'too_many_streams',
          `This account has ${max} open event streams, its maximum (limit open_streams). Close one, or ask for the result with ?wait=.`,
          { limit: { name: 'open_streams', value: max, retryAfterSeconds: 1 } },
        )
      if (open >= capacity)
        throw new ServiceError(
          'too_many_streams',
          `This server has ${capacity} open event streams, its maximum. Try again in a moment, or ask for the result with ?wait=.`,
          { limit: { name: 'max_open_streams', value: capacity, retryAfterSeconds: 1 } },
        )
      if (!admitsShare({ held: open, heldByTenant: openOf(tenant), capacity }))
        throw new ServiceError(
          'too_many_streams',
          `This account has ${openOf(tenant)} of the ${open} open event streams of this server. Half of its ${capacity} are in use, and then an account opens further ones only below ${shareOf(capacity)}. Close one, or ask for the result with ?wait=.`,
          { limit: { name: 'max_open_streams', value: shareOf(capacity), retryAfterSeconds: 1 } },
        )
      add(tenant, 1)
      let isTaken = true
      return () => {
        if (isTaken) add(tenant, -1)
        isTaken = false
      }
    },
  }
}

/** Where a process serves many calls and sees each disconnection: it limits streams, and its connections limit waits. */
export const processHolds = (slots: StreamSlots, limits: Pick<LimitReader, 'of'>): Holds => ({
  take: async (tenant, kind) => {
    if (kind === 'wait') return NO_HOLD
    const leave = slots.take(tenant, (await limits.of(tenant)).openStreams)
    return { signal: null, release: async () => leave() }
  },
  used: async (tenant) => ({ all: slots.open, own: slots.openOf(tenant) }),
})
