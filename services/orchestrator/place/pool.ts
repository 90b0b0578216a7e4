import pLimit, { type LimitFunction } from 'p-limit'
import { notifyExecution } from '../../core/executions/accept-execution.ts'
import { MEMORY_TIERS, type MemoryTier } from '../../core/limits.ts'
import { newSandbox } from '../../core/sandboxes/new-sandbox.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { stopSandbox } from './stop-sandbox.ts'
import { startSandbox } from './start-sandbox.ts'
import { wantedSize } from './wanted-size.ts'

export interface Pool {
  /** Starts what is missing and resolves when each start has ended. Calls that come meanwhile join the one under way and one more after it. */
  refill(): Promise<void>
  /** From now on nothing is started for the pool. */
  close(): void
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

  close(): void {
    this.#isClosed = true
  }

  async #loop(): Promise<void> {
    do {
      this.#isWantedAgain = false
      await this.#fill()
    } while (this.#isWantedAgain && !this.#isClosed)
  }

  async #fill(): Promise<void> {
    const present = await this.#deps.table.sandboxes.all()
    const missing: MemoryTier[] = []
    for (const tier of MEMORY_TIERS) {
      const { count, surplus } = this.#countTier(present, tier)
      for (let number = 0; number < count; number++) missing.push(tier)
      await this.#drain(surplus)
    }
    await Promise.all(missing.map((tier) => this.#slots(() => this.#startMissing(tier))))
  }

  /** How many sandboxes the tier lacks, and the ready ones that it does not need. */
  #countTier(present: readonly Sandbox[], tier: MemoryTier): { readonly count: number; readonly surplus: readonly Sandbox[] } {
    const { poolSizes, poolCeilings, clock, telemetry, driver } = this.#deps
    const ofTier = present.filter(({ memoryTier }) => memoryTier === tier)
    const waiting = ofTier.filter(
      ({ claimedBy, protocol, image, state }) =>
        claimedBy === null && protocol === SUPERVISOR_PROTOCOL && image === driver.image && (state === 'starting' || state === 'ready'),
    )
    const min = poolSizes[tier] ?? 0
    const wanted = wantedSize(ofTier, { min, max: poolCeilings?.[tier] ?? min }, clock.now())
    const ready = waiting.filter(({ state }) => state === 'ready')
    const missing = Math.max(0, wanted - ready.length)
    if (wanted > 0) telemetry.emit({ event: 'pool', outcome: 'counted', tier, wanted, ready: ready.length, missing })
    return { count: Math.max(0, wanted - waiting.length), surplus: ready.slice(0, Math.max(0, waiting.length - wanted)) }
  }

  async #startMissing(tier: MemoryTier): Promise<void> {
    if (this.#isClosed || (await this.#deps.admission?.admits(tier, 'pool')) === false) return
    await startOne(this.#deps, tier)
  }

  /** Demand went back. A claim that comes at the same moment wins: only who moves the row may stop the sandbox. */
  async #drain(surplus: readonly Sandbox[]): Promise<void> {
    const { table, clock } = this.#deps
    for (const { id } of surplus) {
      const change = { state: 'stopping', dueAt: clock.now() } as const
      if ((await table.sandboxes.move(id, ['ready'], change, { unclaimed: true })) !== null) await stopSandbox(this.#deps, id)
    }
  }
}

export const createPool = (deps: PlaceDeps): Pool => new WarmPool(deps)

async function startOne(deps: PlaceDeps, memoryTier: MemoryTier): Promise<void> {
  const sandbox = newSandbox({ memoryTier, image: deps.driver.image, claimedBy: null }, deps.clock.now())
  await deps.table.sandboxes.create(sandbox)
  // A start that failed has been written down; the next refill tries again.
  const started = await startSandbox(deps, sandbox)
  if (started?.claimedBy === undefined || started.claimedBy === null) return
  const { tenant, containerId } = started.claimedBy
  const head = (await deps.table.containers.get(tenant, containerId))?.queue[0]
  if (head !== undefined) await notifyExecution(deps.queue, tenant, containerId, head)
}
