import type { SandboxChange } from '../../ports/sandbox-driver.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { notifyWaitingForSandbox } from '../place/notify-waiting.ts'
import { settleStart } from '../place/start-sandbox.ts'
import { endSandbox } from '../place/repair-sandbox.ts'
import { stopUnclaimed } from '../place/stop-sandbox.ts'
import type { Sandbox } from '../../model/sandboxes/sandbox.ts'

/** An interrupted sandbox has two minutes. The last message leaves time to save; those after the first find a busy container idle, or have no effect. */
const INTERRUPTED_AFTER_SECONDS = [0, 15, 35, 60, 85] as const

/**
 * Applies an event of a sandbox that started to run or ended. The event contains the whole status, so no call of the platform is needed. Events may
 * arrive twice and in any order: each changes a row only in the state before it.
 */
export async function handleTaskStateChange(deps: ReconcilerDeps, { sandboxId, platformId, status }: SandboxChange): Promise<void> {
  if (status.phase === 'starting') return
  const row = await deps.table.sandboxes.get(sandboxId)
  if (row === null) return
  const sandbox = { ...row, platformId }
  if (sandbox.state === 'starting') {
    const settled = await settleStart(deps, sandbox, { status, began: sandbox.launchedAt ?? sandbox.createdAt })
    await notifyWaitingForSandbox(deps, settled ?? sandbox, settled === null ? 'failed' : 'running')
  } else if (status.phase === 'ready' && status.isInterrupted === true) await leaveInterrupted(deps, sandbox)
  else if (status.phase === 'gone' && (sandbox.state === 'ready' || sandbox.state === 'claimed')) await endSandbox(deps, sandbox, status)
}

/** Nothing waits in an unclaimed sandbox. The container of another one hibernates: at once, or when its code ends while the platform still waits. */
async function leaveInterrupted(deps: ReconcilerDeps, sandbox: Sandbox): Promise<void> {
  const { table, queue, telemetry } = deps
  const { id: sandboxId, claimedBy } = sandbox
  telemetry.emit({
    event: 'sandbox_interrupted',
    outcome: claimedBy === null ? 'unused' : 'used',
    sandbox: sandboxId,
    tenant: claimedBy?.tenant ?? null,
    container: claimedBy?.containerId ?? null,
  })
  if (claimedBy === null) return stopUnclaimed(deps, sandbox)
  const { tenant, containerId } = claimedBy
  const container = await table.containers.get(tenant, containerId)
  if (container?.sandboxId !== sandboxId) return
  const message = { v: 1, type: 'container.hibernate', tenant, containerId, idleSince: container.lastActiveAt, sandboxId } as const
  for (const delaySeconds of INTERRUPTED_AFTER_SECONDS)
    await queue.send('executions', message, { group: tenant, ...(delaySeconds === 0 ? {} : { delaySeconds }) })
}
