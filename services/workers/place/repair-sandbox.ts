import { notifyExecution } from '../../operations/notify/notify-execution.ts'
import { meterSandbox } from '../../operations/usage/meter-sandbox.ts'
import { SANDBOX_CHECK_MS, startTimeoutMs } from '../../operations/sandboxes/new-sandbox.ts'
import type { SandboxStatus } from '../../ports/sandbox-driver.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../model/sandboxes/sandbox.ts'
import { detachSandbox } from '../../operations/containers/detach-sandbox.ts'
import type { PlaceDeps } from '../deps.ts'
import { isSuspended, readyJobsIn, type Container } from '../../model/containers/container.ts'
import { holderOf } from '../../operations/sandboxes/holder-of.ts'
import { noteResumedBy } from '../../operations/sandboxes/note-resumed.ts'
import { notifyWaitingForSandbox } from './notify-waiting.ts'
import { stopSandbox, stopUnclaimed } from './stop-sandbox.ts'
import { SUSPENDED_CHECK_MS, suspendSandbox } from './suspend-sandbox.ts'
import { failUnanswered, refusalOf } from './fail-unanswered.ts'
import { reportRefusal } from './report-refusal.ts'
import { failStart, settleStart } from './start-sandbox.ts'

/** An unclaimed warm sandbox is replaced after this time, milliseconds. */
const MAX_WARM_MS = 3_600_000
/** A start that the platform has not accepted for this long is abandoned, milliseconds. A burst is processed at the platform's rate. */
const MAX_LAUNCH_WAIT_MS = 900_000

/** Checks whether a sandbox is alive and whether a container still uses it. `readStatus` reads its status from the platform. */
export async function repairSandbox(deps: PlaceDeps, sandbox: Sandbox, readStatus: () => Promise<SandboxStatus>): Promise<void> {
  const now = deps.clock.now()
  if (sandbox.state === 'gone') return deps.table.sandboxes.remove(sandbox.id)
  if (sandbox.state === 'stopping') return stopSandbox(deps, sandbox.id, { until: knownUntil(sandbox, now) })
  if (sandbox.state === 'suspending') return repairSuspension(deps, sandbox, now)
  if (sandbox.state === 'starting') return repairStart(deps, sandbox, { readStatus, now })
  if (sandbox.claimedBy === null && isStale(deps, sandbox, now)) return stopUnclaimed(deps, sandbox)
  const holder = await holderOf(deps.table, sandbox)
  if (sandbox.claimedBy !== null && !isHeld(sandbox, { holder, now })) {
    return stopSandbox(deps, sandbox.id, { until: knownUntil(sandbox, now) })
  }
  const status = await readStatus()
  if (status.phase === 'gone') return endSandbox(deps, sandbox, status)
  await noteResumedBy(deps.table, sandbox)
  await meterSandbox(deps, sandbox, { until: now, holder })
  const checkMs = sandbox.state === 'suspended' ? SUSPENDED_CHECK_MS : SANDBOX_CHECK_MS
  await deps.table.sandboxes.move(sandbox.id, { from: [sandbox.state] }, { dueAt: now + checkMs })
}

/**
 * The run worker crashed after it reserved the sandbox, or its message was lost. A container whose row does not name the checkpoint keeps its sandbox: no
 * worker has written one.
 */
async function repairSuspension(deps: PlaceDeps, sandbox: Sandbox, now: number): Promise<void> {
  const { id } = sandbox
  const container = await holderOf(deps.table, sandbox)
  if (container === null || !holds(container, sandbox)) return stopSandbox(deps, id)
  if (isSuspended(container)) return suspendSandbox(deps, sandbox)
  const isClaimed = container.hibernating !== null && container.hibernating.expiresAt > now
  const change = isClaimed ? {} : ({ state: 'claimed' } as const)
  await deps.table.sandboxes.move(id, { from: ['suspending'] }, { ...change, dueAt: now + SANDBOX_CHECK_MS })
  if (!isClaimed) await notifyWaitingForSandbox(deps, sandbox, 'started')
}

/** Removes a sandbox that is gone, and enqueues the execution that ran in it. One that never answered is a failed start, whose row is kept. */
export async function endSandbox(deps: PlaceDeps, sandbox: Sandbox, status: Extract<SandboxStatus, { phase: 'gone' }>): Promise<void> {
  const isUnanswered = sandbox.address?.kind === 'tcp' && sandbox.answeredAt === null
  const refusal = refusalOf(status)
  if (isUnanswered && (sandbox.claimedBy !== null || refusal !== null)) {
    if (await failUnanswered(deps, sandbox, { reason: status.reason, refusal })) await notifyWaitingForSandbox(deps, sandbox, 'failed')
    return
  }
  if (refusal !== null) reportRefusal(deps.telemetry, sandbox, refusal)
  await loseClaim(deps, sandbox)
  // Docker keeps the container of a program that ended; a task that ended needs no call, and calls are limited.
  await stopSandbox(deps, sandbox.id, {
    hasEnded: deps.driver.capabilities.reportsStarts,
    until: knownUntil(sandbox, deps.clock.now()),
  })
}

/** A server that was off finds its sandboxes gone: the time since the last check that was due does not count. */
const knownUntil = ({ dueAt }: Sandbox, now: number): number => Math.min(now, dueAt ?? now)

const isStale = (deps: PlaceDeps, sandbox: Sandbox, now: number): boolean =>
  sandbox.protocol !== SUPERVISOR_PROTOCOL || !deps.driver.images.isCurrent(sandbox.image) || now - sandbox.createdAt > MAX_WARM_MS

/** A claim is written before the container names its sandbox, so a recent claim counts as valid. */
const isYoung = ({ claimedAt, resumedAt, createdAt }: Sandbox, now: number): boolean =>
  now - (resumedAt ?? claimedAt ?? createdAt) < SANDBOX_CHECK_MS

const isHeld = (sandbox: Sandbox, { holder, now }: { readonly holder: Container | null; readonly now: number }): boolean =>
  sandbox.claimedBy !== null && (isYoung(sandbox, now) || holds(holder, sandbox))

const holds = (container: Container | null, { id }: Sandbox): boolean => container?.deletedAt === null && container.sandboxId === id

/** The place worker crashed, its message was lost, or an event was lost: repeats the start, or completes it with the platform's status. */
async function repairStart(
  deps: PlaceDeps,
  sandbox: Sandbox,
  { readStatus, now }: { readonly readStatus: () => Promise<SandboxStatus>; readonly now: number },
): Promise<void> {
  const { capabilities } = deps.driver
  const { reportsStarts } = capabilities
  const isLaunched = sandbox.launchedAt !== undefined
  const began = sandbox.launchedAt ?? sandbox.resumedAt ?? sandbox.createdAt
  const isTooLate = now - began > (reportsStarts && !isLaunched ? MAX_LAUNCH_WAIT_MS : startTimeoutMs(capabilities))
  const holder = await holderOf(deps.table, sandbox)
  // Null: no container waits for this sandbox.
  const executionId = holder?.sandboxId === sandbox.id ? (holder.queue[0] ?? null) : null
  const isResumption = sandbox.checkpoint !== undefined
  if (executionId === null && sandbox.claimedBy !== null && !isResumption && !isYoung(sandbox, now)) return stopSandbox(deps, sandbox.id)
  if (isResumption && !isHeld(sandbox, { holder, now })) return stopSandbox(deps, sandbox.id)
  if (isLaunched || (sandbox.claimedBy === null && !reportsStarts)) {
    const status = await readStatus()
    if (status.phase !== 'starting') {
      const settled = await settleStart(deps, sandbox, { status, began })
      return notifyWaitingForSandbox(deps, sandbox, settled === null ? 'failed' : 'started')
    }
  }
  if (isTooLate && sandbox.claimedBy === null) return stopUnclaimed(deps, sandbox)
  if (isTooLate) {
    // The row is kept for a while, so that the execution's next step sees the failed start.
    await failStart(deps, sandbox, { from: began })
    return notifyWaitingForSandbox(deps, sandbox, 'started')
  }
  await deps.table.sandboxes.move(sandbox.id, { from: ['starting'] }, { dueAt: now + SANDBOX_CHECK_MS })
  if (!isLaunched) await requestAgain(deps, sandbox, executionId)
}

async function requestAgain(
  { queue, driver }: PlaceDeps,
  { id: sandboxId, claimedBy, checkpoint }: Sandbox,
  executionId: string | null,
): Promise<void> {
  if (checkpoint !== undefined && claimedBy !== null)
    await queue.send('placements', { v: 1, type: 'sandbox.start', sandboxId }, { group: claimedBy.tenant })
  else if (claimedBy !== null && executionId !== null) {
    const { tenant, containerId } = claimedBy
    await queue.send('placements', { v: 1, type: 'sandbox.place', tenant, sandboxId, containerId, executionId }, { group: tenant })
  } else if (claimedBy === null && driver.capabilities.reportsStarts)
    await queue.send('placements', { v: 1, type: 'sandbox.start', sandboxId }, { group: '_pool' })
}

/** Records in the container that its sandbox is gone, and enqueues what ran in it, also while it was suspended, so that it ends. */
async function loseClaim(deps: PlaceDeps, sandbox: Sandbox): Promise<void> {
  const container = await holderOf(deps.table, sandbox)
  if (container?.sandboxId !== sandbox.id) return
  const { tenant, id: containerId } = container
  await detachSandbox(deps.table.containers, container, { why: 'The sandbox that held them was lost.', dueAt: container.dueAt })
  for (const id of readyJobsIn(container)) await notifyExecution(deps.queue, { tenant, containerId, id })
}

/**
 * Stops what runs without a row, after a crash between the driver and the table, and what runs although its row is `gone`: the row of a failed start is kept,
 * and the call that stops its sandbox can fail too. The row is always written before the start. Returns how many it stopped, and the number of rows.
 */
export async function stopOrphans(deps: PlaceDeps): Promise<{ readonly stopped: number; readonly rows: number }> {
  const rows = await deps.table.sandboxes.all()
  const wanted = rows.filter(isWanted)
  const known = new Set(wanted.map(({ id }) => id))
  const platformIds = new Set(wanted.flatMap(({ platformId }) => platformId ?? []))
  let stopped = 0
  for await (const sandboxId of deps.driver.list(platformIds)) {
    if (known.has(sandboxId)) continue
    const row = await deps.table.sandboxes.get(sandboxId)
    if (row !== null && isWanted(row)) continue
    await deps.driver.stop(sandboxId, row?.platformId)
    stopped += 1
  }
  return { stopped, rows: rows.length }
}

const isWanted = ({ state }: Sandbox): boolean => state !== 'gone'
