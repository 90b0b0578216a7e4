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

/** DynamoDB's answer to a call beyond a limit, after the last attempt. */
export class ThrottledError extends Error {
  override readonly name = 'ThrottlingException'
}

type Units = Partial<Record<'writes' | 'reads' | 'poolWrites' | 'poolReads', number>>

interface TableOptions {
  readonly time: VirtualTime
  readonly random: () => number
  readonly scale?: number | undefined
}

/** Rows with DynamoDB's times and limits: those of a new on-demand table, and those of one partition, which the index `pool` is. */
export class SimulatedTable {
  readonly counts: TableCounts = { calls: 0, throttled: 0, failed: 0 }
  readonly rows: Items
  readonly options: TableOptions
  readonly #buckets: Record<keyof Units, TokenBucket>

  constructor(rows: Items, options: TableOptions) {
    this.rows = rows
    this.options = options
    // A pass over the rows of a smaller model makes as many calls at once as a full one. So only the rate shrinks: the burst covers the pass.
    const bucket = (units: number) => new TokenBucket(units, units / (options.scale ?? 1), options.time.now)
    this.#buckets = {
      writes: bucket(TABLE_LIMITS.writes),
      reads: bucket(TABLE_LIMITS.reads),
      poolWrites: bucket(TABLE_LIMITS.partitionWrites),
      poolReads: bucket(TABLE_LIMITS.partitionReads),
    }
  }

  /** The client of one process. */
  connect(): Items {
    return new TableClient(this)
  }

  /** False: the call is throttled. */
  take(units: Units): boolean {
    const wanted = Object.entries(units) as [keyof Units, number][]
    return wanted.every(([name, count]) => this.#buckets[name].take(count))
  }
}

/** Its retries are the service's own, which has one budget of them per process. */
class TableClient implements Items {
  readonly #table: SimulatedTable
  readonly #items: Items
  readonly #retries: ReturnType<typeof createRetries>

  constructor(table: SimulatedTable) {
    this.#table = table
    this.#items = table.rows
    this.#retries = createRetries(table.options.random)
  }

  get: Items['get'] = (key, options) => this.#call({ reads: options?.mayLag === true ? 0.5 : 1 }, () => this.#items.get(key, options))
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
    const { counts, options } = this.#table
    const { time, random } = options
    counts.calls += 1
    let token = await this.#retries.acquireInitialRetryToken('')
    while (!this.#table.take(units)) {
      counts.throttled += 1
      token = await this.#retries.refreshRetryTokenForRetry(token, { errorType: 'THROTTLING' }).catch((cause: unknown) => {
        counts.failed += 1
        throw new ThrottledError('Throughput exceeds the current capacity of the table.', { cause })
      })
      await time.sleep(token.getRetryDelay())
    }
    this.#retries.recordSuccess(token)
    const isSlow = random() < TABLE_MODEL.slow
    const result = await work()
    await time.sleep(between(random, isSlow ? TABLE_MODEL.slowMs : TABLE_MODEL.callMs))
    return result
  }
}

/** A row of a sandbox is in the index `pool` as well, which is one partition. */
function writesOf({ pk }: ItemKey | Item): { readonly writes: number; readonly poolWrites?: number } {
  const writes = TABLE_MODEL.unitsPerWrite
  return String(pk).startsWith(SANDBOX_PREFIX) ? { writes, poolWrites: writes } : { writes }
}
