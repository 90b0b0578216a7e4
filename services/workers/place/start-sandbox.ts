import { noteResumedBy } from '../../operations/sandboxes/note-resumed.ts'
import { SANDBOX_CHECK_MS, startTimeoutMs } from '../../operations/sandboxes/new-sandbox.ts'
import { DriverError, type SandboxStatus } from '../../ports/sandbox-driver.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../model/sandboxes/sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { GONE_KEPT_MS, refusalOf } from './fail-unanswered.ts'
import { reportRefusal } from './report-refusal.ts'

/**
 * Starts the sandbox of a row in `starting`. Where the platform reports by event that a sandbox runs, the row stays `starting` with the platform's
 * name for it. Otherwise the call waits until it is ready: then the row is `claimed` when a container waits for it and `ready` otherwise. A start
 * that fails leaves the row `gone`, and the result is null. A repetition starts no second sandbox, because drivers are idempotent by sandbox id.
 * Throws DriverError `throttled`: the start is to be repeated later.
 */
export async function startSandbox(deps: PlaceDeps, sandbox: Sandbox): Promise<Sandbox | null> {
  const { driver, clock, telemetry } = deps
  const began = clock.now()
  const late = new AbortController()
  const abandon = (): void => late.abort(new DOMException('The sandbox was not ready in time.', 'TimeoutError'))
  const timer = setTimeout(abandon, startTimeoutMs(driver.capabilities))
  const { signal } = late
  try {
    const { id: sandboxId, memoryTier, imageName, limits, publicKey } = sandbox
    const spec = { sandboxId, memoryTier, imageName, limits, publicKey, isAwaited: sandbox.claimedBy !== null }
    if (sandbox.checkpoint !== undefined) return await settleStart(deps, sandbox, { status: await resume(driver, sandbox, signal), began })
    const platformId = await driver.start(spec, signal)
    if (driver.capabilities.reportsStarts) return await recordLaunch(deps, sandbox, platformId)
    return await settleStart(deps, sandbox, { status: await driver.waitReady(sandboxId, signal), began })
  } catch (cause) {
    if (cause instanceof DriverError && cause.kind === 'throttled' && driver.capabilities.reportsStarts) throw cause
    const detail = cause instanceof Error ? cause.message : String(cause)
    reportStart(telemetry, sandbox, {
      outcome: cause instanceof DriverError ? cause.kind : 'error',
      start_ms: clock.now() - began,
      detail,
    })
    if (!(cause instanceof DriverError)) throw cause
  } finally {
    clearTimeout(timer)
  }
  await failStart(deps, sandbox, { from: began })
  return null
}

/** The processes of a suspended sandbox continue. One of a server that cannot do that is a failed start. */
async function resume({ suspension }: PlaceDeps['driver'], { id, checkpoint }: Sandbox, signal: AbortSignal): Promise<SandboxStatus> {
  if (suspension === undefined || checkpoint === undefined) throw new DriverError('configuration', 'This platform keeps no processes.')
  return suspension.resume(id, checkpoint.id, signal)
}

/** The platform accepted the start and will report the rest. */
async function recordLaunch(
  { table, clock, driver }: PlaceDeps,
  sandbox: Sandbox,
  platformId: string | undefined,
): Promise<Sandbox | null> {
  const now = clock.now()
  const change = {
    launchedAt: sandbox.launchedAt ?? now,
    dueAt: now + SANDBOX_CHECK_MS,
    ...(platformId === undefined ? {} : { platformId }),
  }
  const moved = await table.sandboxes.move(sandbox.id, { from: ['starting'] }, change)
  if (moved !== null) return moved
  // An event preceded this write, or the sandbox is no longer needed.
  const present = await table.sandboxes.get(sandbox.id)
  if (present?.state === 'ready' || present?.state === 'claimed') return present
  await driver.stop(sandbox.id, platformId)
  return null
}

/**
 * Ends a start with what the platform shows. Returns the row of a sandbox that is ready or claimed; null when the start failed or is no longer
 * wanted. `began`: when the platform was asked (epoch ms).
 */
export async function settleStart(
  deps: PlaceDeps,
  sandbox: Sandbox,
  { status, began }: { readonly status: SandboxStatus; readonly began: number },
): Promise<Sandbox | null> {
  const { driver, table, clock, telemetry } = deps
  const now = clock.now()
  const report = (outcome: string, detail: string | null = null): void =>
    reportStart(telemetry, sandbox, { outcome, detail, start_ms: now - began })
  if (status.phase !== 'ready') {
    report(status.phase === 'gone' ? status.reason : 'timed_out', status.phase === 'gone' ? (status.detail ?? null) : null)
    const refusal = status.phase === 'gone' ? refusalOf(status) : null
    if (refusal !== null) reportRefusal(telemetry, sandbox, refusal)
    await failStart(deps, sandbox, { from: began, check: refusal?.check })
    return null
  }
  // A worker of another version may have written the row, so what this driver started counts.
  const change = {
    address: status.address,
    readyAt: now,
    dueAt: now + SANDBOX_CHECK_MS,
    ...(sandbox.checkpoint === undefined && {
      image: driver.images.resolve(sandbox.imageName).reference,
      protocol: SUPERVISOR_PROTOCOL,
    }),
    ...(sandbox.platformId === undefined ? {} : { platformId: sandbox.platformId }),
  }
  // A container may have reserved it while it started.
  const moved =
    (await table.sandboxes.move(sandbox.id, { from: ['starting'], unclaimed: true }, { ...change, state: 'ready' })) ??
    (await table.sandboxes.move(sandbox.id, { from: ['starting'] }, { ...change, state: 'claimed' }))
  if (moved !== null) {
    report(sandbox.checkpoint === undefined ? 'ready' : 'resumed')
    await noteResumedBy(table, moved)
    return moved
  }
  // Another delivery of the same start preceded this one, or the sandbox is no longer needed.
  const present = await table.sandboxes.get(sandbox.id)
  const isWanted = present?.state === 'ready' || present?.state === 'claimed'
  report(isWanted ? 'ready_before' : 'unwanted')
  if (!isWanted) await driver.stop(sandbox.id, sandbox.platformId)
  return isWanted ? present : null
}

function reportStart(
  telemetry: PlaceDeps['telemetry'],
  { id, memoryTier, claimedBy }: Sandbox,
  measured: { readonly outcome: string; readonly detail: string | null; readonly start_ms: number },
): void {
  telemetry.emit({ event: 'sandbox_start', ...measured, sandbox: id, tier: memoryTier, is_pool: claimedBy === null })
}

/**
 * `from`: when the start was requested; `check`: the isolation check that failed. Only the worker that ends the start in the row may stop the sandbox, because another delivery may have completed the
 * start, and a container may use the sandbox.
 */
export async function failStart(
  { table, clock, driver }: PlaceDeps,
  { id, platformId, checkpoint }: Sandbox,
  { from, check }: { readonly from: number; readonly check?: string | undefined },
): Promise<void> {
  const now = clock.now()
  const failedStart = { from, to: now, ...(check === undefined ? {} : { check }) }
  const change = { state: 'gone', failedStart, dueAt: now + GONE_KEPT_MS } as const
  if (checkpoint === undefined) {
    if ((await table.sandboxes.move(id, { from: ['starting'] }, change)) !== null) await driver.stop(id, platformId)
    return
  }
  // Its processes may run. Steps wait for a sandbox that is `suspending`, so the container gets another one only when this one is stopped.
  if ((await table.sandboxes.move(id, { from: ['starting'] }, { state: 'suspending', dueAt: now + SANDBOX_CHECK_MS })) === null) return
  await driver.stop(id, platformId)
  await table.sandboxes.move(id, { from: ['suspending'] }, change)
}
