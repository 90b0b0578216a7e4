import { ServiceError } from '../../model/errors.ts'
import {
  admitsCall,
  changeCalls,
  EMPTY_POOL,
  heldByOthers,
  heldCalls,
  NO_OPEN_CALLS,
  publishIn,
  roundEnd,
  toPublish,
  type CallPool,
  type OpenCalls,
  type Published,
} from '../../model/tenants/open-calls.ts'
import { shareOf } from '../../model/tenants/share.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SharedRowStore } from '../../ports/shared-row-store.ts'
import type { Hold, Holds } from './hold.ts'
import type { LimitReader } from './limit-reader.ts'
import { SharedRow } from './shared-row.ts'

/** Owner of the row of all tenants; no tenant has this id. */
const EVERYONE = '_deployment'
/** A call may stay open for this time, and for a further one while its tenant is within its share. */
export const HOLD_MS = 120_000
const EXTENSION_MS = 60_000
/** A hold is extended this long before its end. */
const EARLY_MS = 5_000
const RETRY_AFTER_SECONDS = 5

export interface SharedHoldsOptions {
  readonly sharedRows: Pick<SharedRowStore, 'get' | 'replace'>
  /** What is counted, the name of its rows: the open calls of the API, or the steps of turns. */
  readonly name?: 'open_calls' | 'turn_steps'
  /** Absent: only the share limits a tenant. */
  readonly limits?: Pick<LimitReader, 'of'>
  readonly clock: Clock
  /** Calls that all processes together can have open. */
  readonly capacity: number
}

/**
 * The open calls of all processes, for a platform on which each call occupies a process and a client that disconnects is not noticed. A row per tenant counts
 * them, and one row has the numbers of the tenants with many. When both rows are unreachable, the tenant's call is refused.
 */
export class SharedHolds implements Holds {
  readonly #options: SharedHoldsOptions
  readonly #calls: SharedRow<OpenCalls>
  readonly #pool: SharedRow<CallPool>

  constructor(options: SharedHoldsOptions) {
    const { sharedRows, name = 'open_calls' } = options
    this.#options = options
    this.#calls = new SharedRow(sharedRows, name, NO_OPEN_CALLS)
    this.#pool = new SharedRow(sharedRows, name, EMPTY_POOL)
  }

  async take(tenant: string): Promise<Hold> {
    const { limits, capacity } = this.#options
    const max = limits === undefined ? capacity : (await limits.of(tenant)).openStreams
    const end = roundEnd(this.#options.clock.now() + HOLD_MS)
    const held = await this.#change(tenant, { add: end, max }).catch((cause: unknown) => {
      throw this.#refusal('This account opens too many calls at the same moment.', { value: max, cause })
    })
    if (held === null) return this.#hold(tenant, end)
    if (held >= max) throw this.#refusal(`This account has ${max} open calls, its maximum (limit open_streams).`, { value: max })
    const value = shareOf(capacity)
    throw this.#refusal(
      `This account has ${held} open calls. Half of the ${capacity} of this deployment are in use, and then an account opens further ones only below ${value}.`,
      { value },
    )
  }

  async used(tenant: string): Promise<{ readonly all: null; readonly own: number }> {
    return { all: null, own: heldCalls(await this.#calls.read(tenant), this.#options.clock.now()) }
  }

  /** Extends itself until it is released or its tenant is above its share. */
  #hold(tenant: string, first: number): Hold {
    const { clock } = this.#options
    const stop = new AbortController()
    let end: number | null = first
    let extending: Promise<void> = Promise.resolve()
    const extend = async (): Promise<void> => {
      if (end === null) return
      const next = roundEnd(end + EXTENSION_MS)
      const refused = await this.#change(tenant, { add: next, remove: end }).catch(() => 0)
      if (refused === null) {
        end = next
        timer = setTimeout(start, next - EARLY_MS - clock.now())
      } else stop.abort()
    }
    const start = (): void => void (extending = extend())
    let timer = setTimeout(start, first - EARLY_MS - clock.now())
    return {
      signal: stop.signal,
      release: async () => {
        await extending
        clearTimeout(timer)
        const held = end
        end = null
        // A call that is not removed counts until its end.
        if (held !== null) await this.#change(tenant, { remove: held }).catch(() => undefined)
      },
    }
  }

  /** Null when it is done, otherwise the number of calls that the tenant has. Throws when the row cannot be written. */
  async #change(
    tenant: string,
    change: { readonly add?: number; readonly remove?: number; readonly max?: number },
  ): Promise<number | null> {
    const { capacity, clock } = this.#options
    const { max = Number.POSITIVE_INFINITY } = change
    const attempt = (others: number | null) =>
      this.#calls.change<{ readonly refused: number | null; readonly needsPool?: true; readonly published?: Published | null }>(
        tenant,
        (calls) => {
          const now = clock.now()
          const held = heldCalls(calls, now) - (change.remove === undefined ? 0 : 1)
          if (change.add !== undefined) {
            if (held >= max) return { values: calls, result: { refused: held } }
            if (!admitsCall(held, { others: others ?? capacity, capacity }))
              return { values: calls, result: others === null ? { refused: held, needsPool: true } : { refused: held } }
          }
          const changed = changeCalls(calls, { ...change, now })
          const published = toPublish(changed, { now, capacity, holdMs: HOLD_MS })
          return { values: published === null ? changed : { ...changed, published }, result: { refused: null, published } }
        },
      )
    let result = await attempt(null)
    if (result.needsPool === true) result = await attempt(heldByOthers(await this.#pool.read(EVERYONE), tenant, clock.now()))
    const { refused, published } = result
    if (published !== undefined && published !== null) await this.#publish(tenant, published)
    return refused
  }

  async #publish(tenant: string, published: Published): Promise<void> {
    const { clock } = this.#options
    // Without it the row is wrong until the tenant's number has changed by a further step.
    await this.#pool
      .change(EVERYONE, (pool) => ({ values: publishIn(pool, tenant, { published, now: clock.now() }), result: null }))
      .catch(() => undefined)
  }

  #refusal(what: string, { value, cause }: { readonly value: number; readonly cause?: unknown }): ServiceError {
    return new ServiceError('too_many_streams', `${what} Close one, or ask again in ${RETRY_AFTER_SECONDS} s.`, {
      limit: { name: 'open_streams', value, retryAfterSeconds: RETRY_AFTER_SECONDS },
      ...(cause !== undefined && { cause }),
    })
  }
}
