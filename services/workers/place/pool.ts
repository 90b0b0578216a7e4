import pLimit, { type LimitFunction } from 'p-limit'
import { MEMORY_TIERS, type MemoryTier } from '../../model/limits.ts'
import { newSandbox } from '../../operations/sandboxes/new-sandbox.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { notifyWaitingForSandbox } from './notify-waiting.ts'
import { stopUnclaimed } from './stop-sandbox.ts'
import { startSandbox } from './start-sandbox.ts'
import { wantedSize, type PoolBounds } from './wanted-size.ts'

/** Interchangeable sandboxes: one tier and one image. */
interface PoolKind {
  readonly imageName: string
  readonly tier: MemoryTier
}

/**
 * Minimum interval between two refills where starts are reported by event, milliseconds. Workers then see each other's new rows in the index, so
 * together they start no sandbox too many.
 */
const REFILL_INTERVAL_MS = 3_000

export interface Pool {
  /**
   * Starts what is missing. Where the platform reports starts by event, it enqueues one message per start and waits for none; otherwise it resolves
   * when each start has ended. Calls during a refill share that refill and one more after it.
   */
  refill(): Promise<void>
  /** Stops further starts for the pool. Resolves when those under way have ended. */
  close(): Promise<void>
}

/** Sandboxes started before an execution asks for one. Each is claimed once and never returned. */
class WarmPool implements Pool {
  readonly #deps: PlaceDeps
  readonly #slots: LimitFunction
  #running: Promise<void> | null = null
  #isWantedAgain = false
  #isClosed = false

  constructor(deps: PlaceDeps) {
    this.#deps = deps
    this.#slots = pLimit(deps.maxStarts)
  }

  refill(): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    this.#isWantedAgain = this.#running !== null
    this.#running ??= this.#loop().finally(() => {
      this.#running = null
    })
    return this.#running
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running?.catch(() => undefined)
  }

  async #loop(): Promise<void> {
    do {
      this.#isWantedAgain = false
      if (!this.#deps.driver.capabilities.reportsStarts || (await mayRefill(this.#deps))) await this.#fill()
    } while (this.#isWantedAgain && !this.#isClosed)
  }

  async #fill(): Promise<void> {
    const present = await this.#deps.table.sandboxes.all()
    const missing: PoolKind[] = []
    let hasReady = false
    const kinds = this.#deps.driver.images.names.flatMap((imageName) => MEMORY_TIERS.map((tier) => ({ imageName, tier })))
    for (const kind of kinds) {
      const { count, ready, surplus } = this.#count(present, kind)
      for (let number = 0; number < count; number++) missing.push(kind)
      hasReady ||= ready > 0
      await this.#drain(surplus)
    }
    if (!hasReady && !this.#deps.driver.capabilities.reportsStarts) await this.#startFirst(missing)
    await Promise.all(missing.map((kind) => this.#slots(() => this.#startMissing(kind))))
  }

  /** Starts on this machine share its processors: while no sandbox is ready, one starts alone and is ready in half the time of two. */
  async #startFirst(missing: PoolKind[]): Promise<void> {
    const first = missing.shift()
    if (first !== undefined) await this.#slots(() => this.#startMissing(first))
  }

  /** How many sandboxes of a kind are missing, how many are ready, and the ready ones that it does not need. */
  #count(
    present: readonly Sandbox[],
    kind: PoolKind,
  ): { readonly count: number; readonly ready: number; readonly surplus: readonly Sandbox[] } {
    const { clock, telemetry, driver } = this.#deps
    const { imageName, tier } = kind
    const { reference } = driver.images.resolve(imageName)
    const ofKind = present.filter((sandbox) => sandbox.memoryTier === tier && driver.images.resolve(sandbox.imageName).name === imageName)
    const waiting = ofKind.filter(
      ({ claimedBy, protocol, image, state }) =>
        claimedBy === null && protocol === SUPERVISOR_PROTOCOL && image === reference && (state === 'starting' || state === 'ready'),
    )
    const wanted = wantedSize(ofKind, this.#bounds(kind), clock.now())
    const ready = waiting.filter(({ state }) => state === 'ready')
    const missing = Math.max(0, wanted - ready.length)
    if (wanted > 0) telemetry.emit({ event: 'pool', outcome: 'counted', tier, image: imageName, wanted, ready: ready.length, missing })
    return {
      count: Math.max(0, wanted - waiting.length),
      ready: ready.length,
      surplus: ready.slice(0, Math.max(0, waiting.length - wanted)),
    }
  }

  /** Only the pool of the default image grows with demand. */
  #bounds({ imageName, tier }: PoolKind): PoolBounds {
    const { driver, poolSizes, poolCeilings, imagePoolSizes } = this.#deps
    if (imageName === driver.images.defaultName) return { min: poolSizes[tier] ?? 0, max: poolCeilings?.[tier] ?? poolSizes[tier] ?? 0 }
    const size = imagePoolSizes?.[imageName]?.[tier] ?? 0
    return { min: size, max: size }
  }

  async #startMissing({ imageName, tier }: PoolKind): Promise<void> {
    if (this.#isClosed || (await this.#deps.admission?.admits(tier, 'pool')) === false) return
    const kind = { imageName, tier }
    await (this.#deps.driver.capabilities.reportsStarts ? requestStart(this.#deps, kind) : startOne(this.#deps, kind))
  }

  /** Demand has decreased. A concurrent claim wins, because only the worker that moves the row may stop the sandbox. */
  async #drain(surplus: readonly Sandbox[]): Promise<void> {
    for (const { id } of surplus) await stopUnclaimed(this.#deps, { id, state: 'ready' })
  }
}

export const createPool = (deps: PlaceDeps): Pool => new WarmPool(deps)

/**
 * Whether this worker refills now. One of all workers does in each interval; the first refused worker enqueues a refill for the next interval, so a claim
 * is always followed by a count.
 */
async function mayRefill({ table, clock, queue }: PlaceDeps): Promise<boolean> {
  const now = clock.now()
  const acquire = (name: string): Promise<boolean> => table.locks.acquire(name, now, now + REFILL_INTERVAL_MS)
  if (await acquire('refill')) return true
  if (await acquire('next-refill'))
    await queue.send('placements', { v: 1, type: 'sandbox.refill' }, { group: '_pool', delaySeconds: REFILL_INTERVAL_MS / 1000 })
  return false
}

function sandboxOf({ driver, clock }: PlaceDeps, { imageName, tier }: PoolKind): Sandbox {
  const image = driver.images.resolve(imageName)
  return newSandbox({ memoryTier: tier, image: image.reference, imageName: image.name, claimedBy: null }, clock.now())
}

/** Writes the row of one more sandbox and enqueues its start. */
async function requestStart(deps: PlaceDeps, kind: PoolKind): Promise<void> {
  const sandbox = sandboxOf(deps, kind)
  await deps.table.sandboxes.create(sandbox)
  await deps.queue.send('placements', { v: 1, type: 'sandbox.start', sandboxId: sandbox.id }, { group: '_pool' })
}

async function startOne(deps: PlaceDeps, kind: PoolKind): Promise<void> {
  const sandbox = sandboxOf(deps, kind)
  await deps.table.sandboxes.create(sandbox)
  // The row records a failed start; the next refill tries again.
  const started = await startSandbox(deps, sandbox)
  if (started !== null) await notifyWaitingForSandbox(deps, started, 'started')
}
