import { SANDBOX_CHECK_MS, SANDBOX_START_MS } from '../../core/sandboxes/new-sandbox.ts'
import { DriverError } from '../../core/ports/sandbox-driver.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../core/sandboxes/sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { reportRefusal } from './report-refusal.ts'

/** How long the row of a failed start stays, so that the execution's next step can tell why it has no sandbox, milliseconds. */
const GONE_KEPT_MS = 600_000

/**
 * Starts the sandbox of a row in `starting` and waits until it is ready: then the row is `claimed` when a container waits for it and `ready`
 * otherwise. A start that fails leaves the row `gone`. Repeating it starts nothing twice: drivers are idempotent by sandbox id.
 */
export async function startSandbox(deps: PlaceDeps, sandbox: Sandbox): Promise<Sandbox | null> {
  const { driver, table, clock, telemetry } = deps
  const began = clock.now()
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException('The sandbox was not ready in time.', 'TimeoutError')), SANDBOX_START_MS)
  const { signal } = late
  const report = (outcome: string, detail: string | null = null): void =>
    telemetry.emit({
      event: 'sandbox_start',
      outcome,
      detail,
      sandbox: sandbox.id,
      tier: sandbox.memoryTier,
      is_pool: sandbox.claimedBy === null,
      start_ms: clock.now() - began,
    })
  try {
    const { id: sandboxId, memoryTier, limits, publicKey } = sandbox
    await driver.start({ sandboxId, memoryTier, limits, publicKey, isAwaited: sandbox.claimedBy !== null }, signal)
    const sight = await driver.waitReady(sandbox.id, signal)
    if (sight.phase === 'ready') {
      const now = clock.now()
      // What was started is what this driver starts: the row may have been written by a worker of another version.
      const change = {
        address: sight.address,
        readyAt: now,
        dueAt: now + SANDBOX_CHECK_MS,
        image: driver.image,
        protocol: SUPERVISOR_PROTOCOL,
      }
      // A container may have reserved it while it started.
      const moved =
        (await table.sandboxes.move(sandbox.id, ['starting'], { ...change, state: 'ready' }, { unclaimed: true })) ??
        (await table.sandboxes.move(sandbox.id, ['starting'], { ...change, state: 'claimed' }))
      if (moved !== null) {
        report('ready')
        return moved
      }
      // Another delivery of the same start was first, or the sandbox is no longer needed.
      const present = await table.sandboxes.get(sandbox.id)
      const isWanted = present?.state === 'ready' || present?.state === 'claimed'
      report(isWanted ? 'ready_before' : 'unwanted')
      if (!isWanted) await driver.stop(sandbox.id)
      return isWanted ? present : null
    }
    if (sight.phase === 'gone') report(sight.reason, sight.detail ?? null)
    if (sight.phase === 'gone') reportRefusal(telemetry, sandbox, sight)
    else report('timed_out')
  } catch (cause) {
    report(cause instanceof DriverError ? cause.kind : 'error', cause instanceof Error ? cause.message : String(cause))
    if (!(cause instanceof DriverError)) throw cause
  } finally {
    clearTimeout(timer)
  }
  await failStart(deps, sandbox.id, began)
  return null
}

/**
 * `from`: since when the platform was asked for it. Only who ends the start in the row may stop it: another delivery may have brought it to an end that is
 * used by now.
 */
export async function failStart({ table, clock, driver }: PlaceDeps, sandboxId: string, from: number): Promise<void> {
  const now = clock.now()
  const change = { state: 'gone', failedStart: { from, to: now }, dueAt: now + GONE_KEPT_MS } as const
  if ((await table.sandboxes.move(sandboxId, ['starting'], change)) !== null) await driver.stop(sandboxId)
}
