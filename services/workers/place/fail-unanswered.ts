import type { SandboxStatus } from '../../ports/sandbox-driver.ts'
import { refusedCheck } from '../../model/sandboxes/isolation-checks.ts'
import type { FailedStart, Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { RunDeps } from '../deps.ts'
import { reportRefusal, type Refusal } from './report-refusal.ts'

/** The row of a failed start is kept for this time, milliseconds, so that the execution's next step can read why it has no sandbox. */
export const GONE_KEPT_MS = 600_000

/** The refusal that a platform's status shows; null for another end. */
export function refusalOf(status: Extract<SandboxStatus, { phase: 'gone' }>): Refusal | null {
  if (status.reason !== 'refused') return null
  return { check: refusedCheck(status.exitCode) ?? 'unknown', exitCode: status.exitCode, detail: status.detail ?? null }
}

/**
 * Ends a sandbox whose task ran and whose supervisor never answered: its start has failed, although the platform had reported it as ready. The row is kept
 * with the failed isolation check, and the execution that waits counts the failed start. False: another worker has ended it, or its supervisor has answered.
 */
export async function failUnanswered(
  { table, clock, telemetry }: Pick<RunDeps, 'table' | 'clock' | 'telemetry'>,
  sandbox: Sandbox,
  { reason, refusal }: { readonly reason: string; readonly refusal: Refusal | null },
): Promise<boolean> {
  const now = clock.now()
  const failedStart: FailedStart = { from: startedAt(sandbox), to: now, ...(refusal === null ? {} : { check: refusal.check }) }
  const moved = await table.sandboxes.move(
    sandbox.id,
    { from: ['ready', 'claimed'] },
    { state: 'gone', failedStart, dueAt: now + GONE_KEPT_MS },
  )
  if (moved === null) return false
  if (refusal !== null) reportRefusal(telemetry, sandbox, refusal)
  telemetry.emit({
    event: 'sandbox_start',
    outcome: reason,
    detail: refusal === null ? null : `It failed the isolation check ${refusal.check}.`,
    sandbox: sandbox.id,
    tier: sandbox.memoryTier,
    is_pool: sandbox.claimedBy === null,
    start_ms: now - failedStart.from,
  })
  return true
}

/** A warm sandbox may have waited for long before its claim, and that time is no part of a start. */
const startedAt = ({ launchedAt, readyAt, createdAt, claimedAt }: Sandbox): number =>
  Math.max(launchedAt ?? readyAt ?? createdAt, claimedAt ?? 0)
