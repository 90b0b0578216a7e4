import type { Container } from '../../model/containers/container.ts'
import type { MemoryTier } from '../../model/limits.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'
import { dayOf } from '../../model/usage/usage.ts'
import type { Table } from '../../ports/table.ts'

const DAY_MS = 86_400_000
/** A sandbox is recorded far more often than this, milliseconds; the first record of a day therefore completes that of the day before. */
const LOOK_BACK_MS = 3_600_000

export interface MeterPorts {
  readonly table: Pick<Table, 'usage'>
  /** Dollars per sandbox second, by tier; 0 on a local machine. */
  readonly costPerSecond: (tier: MemoryTier) => number
}

/**
 * Records what a sandbox has used up to `given` (epoch ms): the seconds since a container holds it, whether or not code runs. The reconciler repeats this while the
 * sandbox is held, and its stop completes it. There is one record per sandbox and day, so each second counts once. `holder` is the container that claimed the sandbox.
 */
export async function meterSandbox(
  { table, costPerSecond }: MeterPorts,
  sandbox: Sandbox,
  { until: given, holder }: { readonly until: number; readonly holder: Container | null },
): Promise<void> {
  const { claimedBy, memoryTier, checkpoint, resumedAt = 0 } = sandbox
  const since = heldSince(sandbox)
  if (claimedBy === null || since === null) return
  // A suspended sandbox uses nothing.
  const until = checkpoint !== undefined && checkpoint.takenAt > resumedAt ? Math.min(given, checkpoint.takenAt) : given
  // Its account was deleted: no row of it may appear again.
  if (holder === null) return
  for (const day of new Set([dayOf(until - LOOK_BACK_MS), dayOf(until)])) {
    const midnight = Date.parse(day)
    const sandboxSeconds = (Math.min(until, midnight + DAY_MS) - Math.max(since, midnight)) / 1000
    if (sandboxSeconds <= 0) continue
    await table.usage.put({
      v: 1,
      tenant: claimedBy.tenant,
      subject: holder.subject,
      // Each time between two suspensions has its own records.
      executionId: resumedAt === 0 ? sandbox.id : `${sandbox.id}-${resumedAt}`,
      purpose: 'sandbox',
      day,
      sandboxSeconds,
      cpuMs: 0,
      peakMemoryBytes: 0,
      outputBytes: 0,
      costUsd: sandboxSeconds * costPerSecond(memoryTier),
    })
  }
}

/** The claim, but not before the platform runs the sandbox. Null: it does not run, or no container holds it. */
function heldSince({ claimedAt, launchedAt, readyAt, resumedAt = 0 }: Sandbox): number | null {
  const runsSince = launchedAt ?? readyAt
  return claimedAt === null || runsSince === null ? null : Math.max(claimedAt, runsSince, resumedAt)
}
