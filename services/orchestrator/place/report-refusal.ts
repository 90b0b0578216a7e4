import type { SandboxStatus } from '../../core/ports/sandbox-driver.ts'
import type { Telemetry } from '../../core/ports/telemetry.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'

/**
 * Emits `sandbox_refused` for a sandbox that failed an isolation check. On Fargate a task runs before its checks have ended, so the refusal may
 * come after the sandbox was `ready`.
 */
export function reportRefusal(
  telemetry: Telemetry,
  { id, memoryTier, image, readyAt }: Sandbox,
  status: Extract<SandboxStatus, { phase: 'gone' }>,
): void {
  if (status.reason !== 'refused') return
  telemetry.emit({
    event: 'sandbox_refused',
    outcome: 'error',
    sandbox: id,
    tier: memoryTier,
    image,
    was_ready: readyAt !== null,
    exit_code: status.exitCode,
    detail: status.detail ?? null,
  })
}
