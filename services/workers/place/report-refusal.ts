import type { Telemetry } from '../../ports/telemetry.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'

export interface Refusal {
  /** The failed isolation check. */
  readonly check: string
  /** Null: the supervisor reported it before it exited. */
  readonly exitCode: number | null
  readonly detail: string | null
}

/**
 * Emits `sandbox_refused` for a sandbox that failed an isolation check. On Fargate a task runs before its checks have ended, so the refusal may
 * come after the sandbox was `ready`.
 */
export function reportRefusal(telemetry: Telemetry, { id, memoryTier, image, readyAt }: Sandbox, refusal: Refusal): void {
  telemetry.emit({
    event: 'sandbox_refused',
    outcome: 'error',
    sandbox: id,
    tier: memoryTier,
    image,
    was_ready: readyAt !== null,
    exit_code: refusal.exitCode,
    check: refusal.check,
    detail: refusal.detail,
  })
}
