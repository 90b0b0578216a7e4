import { notifyExecution } from '../../core/executions/accept-execution.ts'
import { SANDBOX_CHECK_MS, SANDBOX_START_MS } from '../../core/sandboxes/new-sandbox.ts'
import type { SandboxStatus } from '../../core/ports/sandbox-driver.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../core/sandboxes/sandbox.ts'
import { detachSandbox } from '../../core/containers/detach-sandbox.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { notifyWaiting } from '../place/notify-waiting.ts'
import { stopSandbox } from '../place/stop-sandbox.ts'
import { reportRefusal } from '../place/report-refusal.ts'
import { failStart, settleStart } from '../place/start-sandbox.ts'

/** An unclaimed warm sandbox is replaced after this time, milliseconds. */
const MAX_WARM_MS = 3_600_000
/** A start that the platform has not accepted for this long is abandoned, milliseconds: a burst drains at the platform's own rate. */
const MAX_LAUNCH_WAIT_MS = 900_000

/** Checks whether a sandbox is alive and whether a container still uses it. `look` reads its status from the platform. */
export async function repairSandbox(deps: ReconcilerDeps, sandbox: Sandbox, look: () => Promise<SandboxStatus>): Promise<void> {
  const now = deps.clock.now()
  if (sandbox.state === 'gone') return deps.table.sandboxes.remove(sandbox.id)
  if (sandbox.state === 'stopping') return stopSandbox(deps, sandbox.id)
  if (sandbox.state === 'starting') return repairStart(deps, sandbox, look, now)
  if (sandbox.claimedBy === null && isStale(deps, sandbox, now)) return stopSandbox(deps, sandbox.id)
  if (sandbox.claimedBy !== null && !(await isHeld(deps, sandbox, now))) return stopSandbox(deps, sandbox.id)
  const status = await look()
  if (status.phase === 'gone') return endSandbox(deps, sandbox, status)
  await deps.table.sandboxes.move(sandbox.id, [sandbox.state], { dueAt: now + SANDBOX_CHECK_MS })
}

/** Removes a sandbox that is gone, and enqueues the execution that ran in it. */
export async function endSandbox(deps: ReconcilerDeps, sandbox: Sandbox, status: Extract<SandboxStatus, { phase: 'gone' }>): Promise<void> {
  reportRefusal(deps.telemetry, sandbox, status)
  await loseClaim(deps, sandbox)
  // Docker keeps the container of a program that ended; a task that ended needs no call, and calls are limited.
  await stopSandbox(deps, sandbox.id, { hasEnded: deps.driver.capabilities.reportsStarts })
}

const isStale = (deps: ReconcilerDeps, sandbox: Sandbox, now: number): boolean =>
  sandbox.protocol !== SUPERVISOR_PROTOCOL || !deps.driver.images.isCurrent(sandbox.image) || now - sandbox.createdAt > MAX_WARM_MS

/** A claim is written before the container names its sandbox, so a young claim is believed. */
const isYoung = ({ claimedAt, createdAt }: Sandbox, now: number): boolean => now - (claimedAt ?? createdAt) < SANDBOX_CHECK_MS

async function isHeld(deps: ReconcilerDeps, sandbox: Sandbox, now: number): Promise<boolean> {
  if (sandbox.claimedBy === null) return false
  if (isYoung(sandbox, now)) return true
  const container = await deps.table.containers.get(sandbox.claimedBy.tenant, sandbox.claimedBy.containerId)
  return container !== null && container.deletedAt === null && container.sandboxId === sandbox.id
}

/** The place worker died, its message never came, or an event was lost: the start is repeated or ended with what the platform shows. */
async function repairStart(deps: ReconcilerDeps, sandbox: Sandbox, look: () => Promise<SandboxStatus>, now: number): Promise<void> {
  const { reportsStarts } = deps.driver.capabilities
  const isLaunched = sandbox.launchedAt !== undefined
  const began = sandbox.launchedAt ?? sandbox.createdAt
  const isTooLate = now - began > (reportsStarts && !isLaunched ? MAX_LAUNCH_WAIT_MS : SANDBOX_START_MS)
  const executionId = await waitingExecution(deps, sandbox)
  if (executionId === null && sandbox.claimedBy !== null && !isYoung(sandbox, now)) return stopSandbox(deps, sandbox.id)
  if (isLaunched || (sandbox.claimedBy === null && !reportsStarts)) {
    const status = await look()
    if (status.phase !== 'starting') {
      const settled = await settleStart(deps, sandbox, status, began)
      return notifyWaiting(deps, sandbox, settled === null ? 'failed' : 'started')
    }
  }
  if (isTooLate && sandbox.claimedBy === null) return stopSandbox(deps, sandbox.id)
  if (isTooLate) {
    // The row stays for a while: by it the execution's next step sees that a start has failed.
    await failStart(deps, sandbox, began)
    return notifyWaiting(deps, sandbox, 'started')
  }
  await deps.table.sandboxes.move(sandbox.id, ['starting'], { dueAt: now + SANDBOX_CHECK_MS })
  if (!isLaunched) await requestAgain(deps, sandbox, executionId)
}

/** The head of the queue of the container that a sandbox starts for; null when the container does not wait for this sandbox. */
async function waitingExecution(deps: ReconcilerDeps, { id, claimedBy }: Sandbox): Promise<string | null> {
  const container = claimedBy === null ? null : await deps.table.containers.get(claimedBy.tenant, claimedBy.containerId)
  return container?.sandboxId === id ? (container.queue[0] ?? null) : null
}

async function requestAgain(
  { queue, driver }: ReconcilerDeps,
  { id: sandboxId, claimedBy }: Sandbox,
  executionId: string | null,
): Promise<void> {
  if (claimedBy !== null && executionId !== null) {
    const { tenant, containerId } = claimedBy
    await queue.send('placements', { v: 1, type: 'sandbox.place', tenant, sandboxId, containerId, executionId }, { group: tenant })
  } else if (claimedBy === null && driver.capabilities.reportsStarts)
    await queue.send('placements', { v: 1, type: 'sandbox.start', sandboxId }, { group: '_pool' })
}

/** Records in the container that its sandbox is gone, and enqueues its running execution so that it ends. */
async function loseClaim(deps: ReconcilerDeps, sandbox: Sandbox): Promise<void> {
  if (sandbox.claimedBy === null) return
  const { tenant, containerId } = sandbox.claimedBy
  const container = await deps.table.containers.get(tenant, containerId)
  if (container?.sandboxId !== sandbox.id) return
  // A sandbox that never answered had no state to lose.
  const held = sandbox.address?.kind === 'tcp' && sandbox.answeredAt === null ? null : 'The sandbox that held them was lost.'
  if (held !== null) await detachSandbox(deps.table.containers, container, held, { dueAt: container.dueAt })
  else {
    const { id, generation, stateLost, dueAt } = container
    await deps.table.containers.setSandbox(tenant, id, generation, { sandboxId: null, stateLost, dueAt })
  }
  const head = container.queue[0]
  if (head !== undefined) await notifyExecution(deps.queue, tenant, containerId, head)
}

/** Ends what runs without a row: a crash came between the driver and the table. The row is always written before the start. */
export async function stopOrphans(deps: ReconcilerDeps): Promise<number> {
  const rows = await deps.table.sandboxes.all()
  const known = new Set(rows.map(({ id }) => id))
  const platformIds = new Set(rows.flatMap(({ platformId }) => platformId ?? []))
  let stopped = 0
  for await (const sandboxId of deps.driver.list(platformIds)) {
    if (known.has(sandboxId) || (await deps.table.sandboxes.get(sandboxId)) !== null) continue
    await deps.driver.stop(sandboxId)
    stopped += 1
  }
  return stopped
}
