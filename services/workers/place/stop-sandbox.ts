import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import { holderOf } from '../../operations/sandboxes/holder-of.ts'
import { meterSandbox } from '../../operations/usage/meter-sandbox.ts'
import type { PlaceDeps } from '../deps.ts'

/** Stops a sandbox that no container has claimed or reserved meanwhile: the row may be older than a claim. */
export async function stopUnclaimed(deps: PlaceDeps, { id, state }: Pick<Sandbox, 'id' | 'state'>): Promise<void> {
  const change = { state: 'stopping', dueAt: deps.clock.now() } as const
  if ((await deps.table.sandboxes.move(id, { from: [state], unclaimed: true }, change)) !== null) await stopSandbox(deps, id)
}

/**
 * Stops a sandbox permanently and completes the record of its use. `hasEnded`: the platform has nothing left to stop or to remove; `until`: when it was last known to
 * run, epoch ms, now by default. The row's state is `stopping` first, so that a crash in between is repaired.
 */
export async function stopSandbox(
  deps: PlaceDeps,
  sandboxId: string,
  { hasEnded = false, until = deps.clock.now() }: { readonly hasEnded?: boolean; readonly until?: number } = {},
): Promise<void> {
  const { table, clock, driver, telemetry } = deps
  const moved = await table.sandboxes.move(
    sandboxId,
    { from: ['starting', 'ready', 'claimed', 'suspending', 'suspended', 'stopping'] },
    {
      state: 'stopping',
      dueAt: clock.now(),
    },
  )
  const row = moved ?? (await table.sandboxes.get(sandboxId))
  // A row is removed after its sandbox was stopped. The reconciler stops a sandbox that runs without a row.
  if (row === null) return
  if (!hasEnded) await driver.stop(sandboxId, row.platformId)
  // The row of a failed start is kept for the execution that waits for it.
  if (row.state === 'gone') return
  await meterSandbox(deps, row, { until, holder: await holderOf(table, row) })
  await table.sandboxes.remove(sandboxId)
  if (moved === null) return
  const seconds = (clock.now() - moved.createdAt) / 1000
  telemetry.emit({
    event: 'sandbox_end',
    outcome: moved.claimedBy === null ? 'unused' : 'used',
    sandbox: sandboxId,
    tier: moved.memoryTier,
    sandbox_seconds: seconds,
    cost_usd: seconds * deps.costPerSecond(moved.memoryTier),
  })
}
