import pLimit from 'p-limit'
import { nudgeExecution } from '../../core/accept-execution.ts'
import { MEMORY_TIERS, type MemoryTier } from '../../core/limits.ts'
import { newSandbox } from '../../core/new-sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { startSandbox } from './start-sandbox.ts'

export interface Pool {
  /** Starts what is missing and resolves when each start has ended. Calls that come meanwhile join the one under way and one more after it. */
  refill(): Promise<void>
  /** From now on nothing is started for the pool. */
  close(): void
}

/** Sandboxes started before anybody asked. Each is claimed once and never returned. */
export function createPool(deps: PlaceDeps): Pool {
  const slots = pLimit(deps.maxStarts)
  let running: Promise<void> | null = null
  let isWantedAgain = false
  let isClosed = false

  async function fill(): Promise<void> {
    const present = await deps.table.sandboxes.all()
    const missing = MEMORY_TIERS.flatMap((tier) => {
      const waiting = present.filter(
        (s) =>
          s.memoryTier === tier && s.claimedBy === null && s.image === deps.driver.image && (s.state === 'starting' || s.state === 'ready'),
      )
      const wanted = deps.poolSizes[tier] ?? 0
      const count = Math.max(0, wanted - waiting.length)
      const ready = waiting.filter(({ state }) => state === 'ready').length
      if (wanted > 0) deps.telemetry.emit({ event: 'pool', outcome: 'counted', tier, wanted, ready, missing: wanted - ready })
      return Array.from({ length: count }, () => tier)
    })
    await Promise.all(missing.map((tier) => slots(() => (isClosed ? undefined : startOne(deps, tier)))))
  }

  async function loop(): Promise<void> {
    do {
      isWantedAgain = false
      await fill()
    } while (isWantedAgain && !isClosed)
  }

  return {
    refill: () => {
      if (isClosed) return Promise.resolve()
      isWantedAgain = running !== null
      running ??= loop().finally(() => {
        running = null
      })
      return running
    },
    close: () => {
      isClosed = true
    },
  }
}

async function startOne(deps: PlaceDeps, memoryTier: MemoryTier): Promise<void> {
  const sandbox = newSandbox({ memoryTier, image: deps.driver.image, claimedBy: null }, deps.clock.now())
  await deps.table.sandboxes.create(sandbox)
  // A start that failed has been written down; the next refill tries again.
  const started = await startSandbox(deps, sandbox)
  if (started?.claimedBy === undefined || started.claimedBy === null) return
  const { tenant, containerId } = started.claimedBy
  const head = (await deps.table.containers.get(tenant, containerId))?.queue[0]
  if (head !== undefined) await nudgeExecution(deps.queue, tenant, containerId, head)
}
