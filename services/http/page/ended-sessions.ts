import { BoundedCache, readThrough } from '../../model/bounded-cache.ts'
import { SharedRow } from '../../operations/tenancy/shared-row.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SharedRowStore } from '../../ports/shared-row-store.ts'
import type { Session } from './session-cookie.ts'

/** Another process notices the end of a session within this time, milliseconds, as that of a revoked key. */
const CACHE_MS = 5_000
const MAX_TENANTS = 1_000
/** Ended sessions of one tenant; beyond it the one that expires first is forgotten. */
const MAX_ENDED = 1_000

/** The times at which ended sessions would have expired by themselves, epoch ms, by id. */
interface Ended {
  readonly sessions: Readonly<Record<string, number>>
}

/** Sessions whose person has signed out. A cookie is valid by itself, so a copy of it would otherwise work until it expires. */
export class EndedSessions {
  readonly #rows: SharedRow<Ended>
  readonly #clock: Clock
  readonly #read = new BoundedCache<string, Promise<Ended>>(MAX_TENANTS)

  constructor({ sharedRows, clock }: { readonly sharedRows: SharedRowStore; readonly clock: Clock }) {
    this.#rows = new SharedRow<Ended>(sharedRows, 'ended_sessions', { sessions: {} })
    this.#clock = clock
  }

  async has(tenant: string, { id }: Session): Promise<boolean> {
    const now = this.#clock.now()
    const { sessions } = await readThrough(this.#read, tenant, { now, until: now + CACHE_MS, read: () => this.#rows.read(tenant) })
    return Object.hasOwn(sessions, id)
  }

  async end(tenant: string, { id, expiresAt }: Session): Promise<void> {
    const now = this.#clock.now()
    await this.#rows.change(tenant, ({ sessions }) => {
      const live = Object.entries({ ...sessions, [id]: expiresAt }).filter(([, end]) => end > now)
      const kept = live.toSorted(([, one], [, other]) => other - one).slice(0, MAX_ENDED)
      return { values: { sessions: Object.fromEntries(kept) }, result: null }
    })
    this.#read.delete(tenant)
  }
}
