import { between, LAMBDA_LIMITS, LAMBDA_MODEL } from './aws-limits.ts'
import { TokenBucket } from './token-bucket.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface LambdaCounts {
  peak: number
  /** Invocations that found no capacity. */
  throttled: number
  /** Invocations that Lambda ended at the function's time-out. */
  timedOut: number
  coldStarts: number
  readonly peakByFunction: Record<string, number>
}

export interface LambdaOptions {
  /** Of the account; default 1,000. */
  readonly concurrent?: number | undefined
  /** Reserved concurrency by function. */
  readonly reserved?: Readonly<Record<string, number | undefined>>
}

/** Lambda's answer to an invocation beyond a limit. */
export class TooManyRequestsError extends Error {
  override readonly name = 'TooManyRequestsException'
}

type Handler<Event, Answer> = (event: Event) => Promise<Answer>

/** Lambda's concurrency of one account, and one environment per concurrent invocation of a function. */
export class SimulatedLambda {
  readonly counts: LambdaCounts = { peak: 0, throttled: 0, timedOut: 0, coldStarts: 0, peakByFunction: {} }
  readonly #time: VirtualTime
  readonly #random: () => number
  readonly #active: Record<string, number> = {}
  readonly #reserved: Readonly<Record<string, number | undefined>>
  readonly #unreserved: number
  /** Those without a reservation. */
  #sharing = 0
  #running = 0

  constructor(time: VirtualTime, random: () => number, options: LambdaOptions = {}) {
    const { concurrent = LAMBDA_LIMITS.concurrent, reserved = {} } = options
    this.#reserved = reserved
    this.#unreserved = Object.values(reserved).reduce<number>((left, own) => left - (own ?? 0), concurrent)
    this.#time = time
    this.#random = random
  }

  /**
   * A function: `create` makes the handler of a new environment. The result invokes it, and rejects with TooManyRequestsError beyond a limit, and when the
   * function runs longer than its time-out. Code of an invocation that has timed out runs on, as it may after Lambda froze it.
   */
  define<Event, Answer>(
    name: string,
    { timeoutMs }: { readonly timeoutMs: number },
    create: () => Handler<Event, Answer>,
  ): Handler<Event, Answer> {
    const { burst, perSecond } = LAMBDA_LIMITS.newEnvironments
    const idle: { readonly handler: Handler<Event, Answer>; readonly since: number }[] = []
    const growth = new TokenBucket(burst, perSecond, this.#time.now)
    const environment = async (): Promise<Handler<Event, Answer>> => {
      const used = idle.pop()
      if (used !== undefined && this.#time.now() - used.since < LAMBDA_MODEL.idleMs) return used.handler
      // The one that was used last is on top, so the others have been idle for longer.
      idle.length = 0
      this.counts.coldStarts += 1
      await this.#time.sleep(between(this.#random, LAMBDA_MODEL.coldStartMs))
      return create()
    }
    return async (event) => {
      if (!this.#hasCapacity(name) || (idle.length === 0 && !growth.take())) {
        this.counts.throttled += 1
        throw new TooManyRequestsError('Rate Exceeded.')
      }
      this.#count(name, 1)
      try {
        const handler = await environment()
        const answer = await this.#within(timeoutMs, handler(event))
        idle.push({ handler, since: this.#time.now() })
        return answer
      } finally {
        this.#count(name, -1)
      }
    }
  }

  /**
   * Invokes as Lambda does for EventBridge: an invocation that finds no capacity is repeated for six hours, and a failed one twice. Resolves when it has
   * succeeded or was dropped.
   */
  async invokeAsync<Event>(invoke: Handler<Event, unknown>, event: Event, onError: (error: unknown) => void): Promise<void> {
    const began = this.#time.now()
    let pauseMs: number = LAMBDA_LIMITS.asyncPauseMs.first
    for (let failures = 0; ;) {
      try {
        return void (await invoke(event))
      } catch (error) {
        onError(error)
        if (error instanceof TooManyRequestsError) {
          if (this.#time.now() + pauseMs - began > LAMBDA_LIMITS.asyncAgeMs) return
          await this.#time.sleep(pauseMs)
          pauseMs = Math.min(2 * pauseMs, LAMBDA_LIMITS.asyncPauseMs.longest)
        } else {
          const retryMs = LAMBDA_LIMITS.asyncRetriesMs[failures++]
          if (retryMs === undefined) return
          await this.#time.sleep(retryMs)
        }
      }
    }
  }

  /** Invocations that run now, by function. */
  active(): Readonly<Record<string, number>> {
    return { ...this.#active }
  }

  async #within<Answer>(timeoutMs: number, work: Promise<Answer>): Promise<Answer> {
    let cancel = (): void => undefined
    const timedOut = new Promise<never>((_, reject) => {
      cancel = this.#time.after(timeoutMs, () => {
        this.counts.timedOut += 1
        reject(new Error(`Task timed out after ${timeoutMs / 1000} seconds`))
      })
    })
    return Promise.race([work, timedOut]).finally(() => cancel())
  }

  /** A reservation is a function's maximum, and takes from what the others share. */
  #hasCapacity(name: string): boolean {
    const own = this.#reserved[name]
    return own === undefined ? this.#sharing < this.#unreserved : (this.#active[name] ?? 0) < own
  }

  #count(name: string, change: number): void {
    this.#running += change
    if (this.#reserved[name] === undefined) this.#sharing += change
    const active = (this.#active[name] = (this.#active[name] ?? 0) + change)
    this.counts.peak = Math.max(this.counts.peak, this.#running)
    this.counts.peakByFunction[name] = Math.max(this.counts.peakByFunction[name] ?? 0, active)
  }
}
