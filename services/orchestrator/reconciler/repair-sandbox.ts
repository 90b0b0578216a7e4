import { notifyExecution } from '../../core/executions/accept-execution.ts'
import { SANDBOX_CHECK_MS, SANDBOX_START_MS } from '../../core/sandboxes/new-sandbox.ts'
import type { DueRow } from '../../core/ports/table.ts'
import { SUPERVISOR_PROTOCOL, type Sandbox } from '../../core/sandboxes/sandbox.ts'
import { detachSandbox } from '../../core/containers/detach-sandbox.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { stopSandbox } from '../place/stop-sandbox.ts'
import { reportRefusal } from '../place/report-refusal.ts'
import { failStart } from '../place/start-sandbox.ts'

/** An unclaimed warm sandbox is replaced after this time, milliseconds. */
const MAX_WARM_MS = 3_600_000

/** Looks whether a sandbox is alive and whether anybody still wants it. */
export async function repairSandbox(deps: ReconcilerDeps, due: DueRow): Promise<void> {
  const sandbox = await deps.table.sandboxes.get(due.id)
  if (sandbox === null) return
  const now = deps.clock.now()
  if (sandbox.state === 'gone') return deps.table.sandboxes.remove(sandbox.id)
  if (sandbox.state === 'stopping') return stopSandbox(deps, sandbox.id)
  if (sandbox.state === 'starting') return repairStart(deps, sandbox, now)
  if (sandbox.claimedBy === null && isStale(deps, sandbox, now)) return stopSandbox(deps, sandbox.id)
  if (sandbox.claimedBy !== null && !(await isHeld(deps, sandbox, now))) return stopSandbox(deps, sandbox.id)
  const sight = await deps.driver.inspect(sandbox.id)
  if (sight.phase !== 'gone') {
    await deps.table.sandboxes.move(sandbox.id, [sandbox.state], { dueAt: now + SANDBOX_CHECK_MS })
    return
  }
  reportRefusal(deps.telemetry, sandbox, sight)
  await loseClaim(deps, sandbox)
  await stopSandbox(deps, sandbox.id)
}

const isStale = (deps: ReconcilerDeps, sandbox: Sandbox, now: number): boolean =>
  sandbox.protocol !== SUPERVISOR_PROTOCOL || sandbox.image !== deps.driver.image || now - sandbox.createdAt > MAX_WARM_MS

/** A claim is written before the container names its sandbox, so a young claim is believed. */
const isYoung = ({ claimedAt, createdAt }: Sandbox, now: number): boolean => now - (claimedAt ?? createdAt) < SANDBOX_CHECK_MS

async function isHeld(deps: ReconcilerDeps, sandbox: Sandbox, now: number): Promise<boolean> {
  if (sandbox.claimedBy === null) return false
  if (isYoung(sandbox, now)) return true
  const container = await deps.table.containers.get(sandbox.claimedBy.tenant, sandbox.claimedBy.containerId)
  return container !== null && container.deletedAt === null && container.sandboxId === sandbox.id
}

/** The place worker died, or its message never came: the start is asked for again until it is too late. */
async function repairStart(deps: ReconcilerDeps, sandbox: Sandbox, now: number): Promise<void> {
  const isTooLate = now - sandbox.createdAt > SANDBOX_START_MS
  if (isTooLate && sandbox.claimedBy === null) return stopSandbox(deps, sandbox.id)
  if (sandbox.claimedBy === null) {
    const sight = await deps.driver.inspect(sandbox.id)
    if (sight.phase === 'gone') return stopSandbox(deps, sandbox.id)
    if (sight.phase === 'ready')
      await deps.table.sandboxes.move(sandbox.id, ['starting'], {
        state: 'ready',
        address: sight.address,
        readyAt: now,
        dueAt: now + SANDBOX_CHECK_MS,
      })
    else await deps.table.sandboxes.move(sandbox.id, ['starting'], { dueAt: now + SANDBOX_CHECK_MS })
    return
  }
  const { tenant, containerId } = sandbox.claimedBy
  const container = await deps.table.containers.get(tenant, containerId)
  const executionId = container?.queue[0]
  if (container === null || container.sandboxId !== sandbox.id || executionId === undefined) {
    if (!isYoung(sandbox, now)) return stopSandbox(deps, sandbox.id)
    await deps.table.sandboxes.move(sandbox.id, ['starting'], { dueAt: now + SANDBOX_CHECK_MS })
    return
  }
  if (isTooLate) {
    // The row stays for a while: by it the execution's next step sees that a start has failed.
    await failStart(deps, sandbox.id, sandbox.createdAt)
    return notifyExecution(deps.queue, tenant, containerId, executionId)
  }
  await deps.table.sandboxes.move(sandbox.id, ['starting'], { dueAt: now + SANDBOX_CHECK_MS })
  await deps.queue.send(
    'placements',
    { v: 1, type: 'sandbox.place', tenant, sandboxId: sandbox.id, containerId, executionId },
    { group: tenant },
  )
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
  const known = new Set((await deps.table.sandboxes.all()).map((sandbox) => sandbox.id))
  let stopped = 0
  for await (const sandboxId of deps.driver.list()) {
    if (known.has(sandboxId) || (await deps.table.sandboxes.get(sandboxId)) !== null) continue
    await deps.driver.stop(sandboxId)
    stopped += 1
  }
  return stopped
}
