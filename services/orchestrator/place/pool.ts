import pLimit from 'p-limit'
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

/** Sandboxes started before anybody asked. Each is claimed once and never returned. */
export function createPool(deps: PlaceDeps): Pool {
  const slots = pLimit(deps.maxStarts)
  let running: Promise<void> | null = null
  let isWantedAgain = false
  let isClosed = false

  async function fill(): Promise<void> {
    const present = await deps.table.sandboxes.all()
    const missing: MemoryTier[] = []
    for (const tier of MEMORY_TIERS) {
      const ofTier = present.filter(({ memoryTier }) => memoryTier === tier)
      const waiting = ofTier.filter(
        ({ claimedBy, protocol, image, state }) =>
          claimedBy === null &&
          protocol === SUPERVISOR_PROTOCOL &&
          image === deps.driver.image &&
          (state === 'starting' || state === 'ready'),
      )
      const min = deps.poolSizes[tier] ?? 0
      const wanted = wantedSize(ofTier, { min, max: deps.poolCeilings?.[tier] ?? min }, deps.clock.now())
      const ready = waiting.filter(({ state }) => state === 'ready')
      if (wanted > 0)
        deps.telemetry.emit({
          event: 'pool',
          outcome: 'counted',
          tier,
          wanted,
          ready: ready.length,
          missing: Math.max(0, wanted - ready.length),
        })
      for (let count = waiting.length; count < wanted; count++) missing.push(tier)
      await drain(ready.slice(0, Math.max(0, waiting.length - wanted)))
    }
    await Promise.all(missing.map((tier) => slots(() => (isClosed ? undefined : startOne(deps, tier)))))
  }

  /** Demand went back. A claim that comes at the same moment wins: only who moves the row may stop the sandbox. */
  async function drain(surplus: readonly Sandbox[]): Promise<void> {
    for (const { id } of surplus) {
      const change = { state: 'stopping', dueAt: deps.clock.now() } as const
      if ((await deps.table.sandboxes.move(id, ['ready'], change, { unclaimed: true })) !== null) await stopSandbox(deps, id)
    }
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
  if (head !== undefined) await notifyExecution(deps.queue, tenant, containerId, head)
}
