import type { Item } from '../../../services/adapters/storage/rows/row-codec.ts'
import type { Items } from '../../../services/adapters/storage/rows/items.ts'
import { POOL_TENANT, tenantPrefix, type ItemKey } from '../../../services/adapters/storage/rows/keys.ts'
import { createRetries } from '../../../services/adapters/storage/retries.ts'
import { between, TABLE_LIMITS, TABLE_MODEL } from './aws-limits.ts'
import { TokenBucket } from './token-bucket.ts'
import type { VirtualTime } from './virtual-time.ts'

const SANDBOX_PREFIX = `${tenantPrefix(POOL_TENANT)}sandbox#`

export interface TableCounts {
  calls: number
  throttled: number
  /** Calls that failed in every attempt. */
  failed: number
}

type Units = Partial<Record<'writes' | 'reads' | 'poolWrites' | 'poolReads', number>>

/**
 * Rows with DynamoDB's times and limits: those of a new on-demand table, and those of one partition, which the index `pool` is. The retries are the
 * service's own.
 */
export class SimulatedTable implements Items {
  readonly counts: TableCounts = { calls: 0, throttled: 0, failed: 0 }
  readonly #items: Items
  readonly #time: VirtualTime
  readonly #random: () => number
  readonly #retries: ReturnType<typeof createRetries>
  readonly #buckets: Record<keyof Units, TokenBucket>

  constructor(items: Items, options: { readonly time: VirtualTime; readonly random: () => number; readonly scale?: number | undefined }) {
    const { time, random, scale = 1 } = options
    this.#items = items
    this.#time = time
    this.#random = random
    this.#retries = createRetries(random)
    const bucket = (units: number) => new TokenBucket(units / scale, units / scale, time.now)
    this.#buckets = {
      writes: bucket(TABLE_LIMITS.writes),
      reads: bucket(TABLE_LIMITS.reads),
      poolWrites: bucket(TABLE_LIMITS.partitionWrites),
      poolReads: bucket(TABLE_LIMITS.partitionReads),
    }
  }

  get: Items['get'] = (key) => this.#call({ reads: 1 }, () => this.#items.get(key))
  put: Items['put'] = (item, ...rest) => this.#call(writesOf(item), () => this.#items.put(item, ...rest))
  update: Items['update'] = (key, ...rest) => this.#call(writesOf(key), () => this.#items.update(key, ...rest))
  delete: Items['delete'] = (key) => this.#call(writesOf(key), () => this.#items.delete(key))
  getMany: Items['getMany'] = (keys) => this.#call({ reads: keys.length }, () => this.#items.getMany(keys))
  ofTenant: Items['ofTenant'] = (...request) => this.#call({ reads: 100 }, () => this.#items.ofTenant(...request))
  flush: Items['flush'] = () => this.#items.flush()

  writeMany: Items['writeMany'] = (changes) =>
    this.#call({ writes: changes.length * TABLE_MODEL.unitsPerWrite }, () => this.#items.writeMany(changes))

  /** Reads of an index are eventually consistent and cost half a unit for four kilobytes, or about three rows. */
  query: Items['query'] = async (request) => {
    const page = await this.#items.query(request)
    const units = 1 + page.items.length / 6
    await this.#call({ reads: units, ...(request.index === 'pool' ? { poolReads: units } : {}) }, async () => undefined)
    return page
  }

  /** Waits as long as the call takes, with the service's retries while DynamoDB throttles it. */
  async #call<T>(units: Units, work: () => Promise<T>): Promise<T> {
    this.counts.calls += 1
    let token = await this.#retries.acquireInitialRetryToken('')
    while (!this.#take(units)) {
      this.counts.throttled += 1
      try {
        token = await this.#retries.refreshRetryTokenForRetry(token, { errorType: 'THROTTLING' })
      } catch (last) {
        this.counts.failed += 1
        throw last
      }
      await this.#time.sleep(token.getRetryDelay())
    }
    this.#retries.recordSuccess(token)
    const isSlow = this.#random() < TABLE_MODEL.slow
    const result = await work()
    await this.#time.sleep(between(this.#random, isSlow ? TABLE_MODEL.slowMs : TABLE_MODEL.callMs))
    return result
  }

  #take(units: Units): boolean {
    const wanted = Object.entries(units) as [keyof Units, number][]
    return wanted.every(([name, count]) => this.#buckets[name].take(count))
  }
}

/** A row of a sandbox is in the index `pool` as well, which is one partition. */
function writesOf({ pk }: ItemKey | Item): { readonly writes: number; readonly poolWrites?: number } {
  const writes = TABLE_MODEL.unitsPerWrite
  return String(pk).startsWith(SANDBOX_PREFIX) ? { writes, poolWrites: writes } : { writes }
}
