import type { SandboxChange } from '../../ports/sandbox-driver.ts'
import type { ReconcilerDeps } from '../deps.ts'
import { notifyWaitingForSandbox } from '../place/notify-waiting.ts'
import { settleStart } from '../place/start-sandbox.ts'
import { endSandbox } from '../place/repair-sandbox.ts'

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
  } else if (status.phase === 'gone' && (sandbox.state === 'ready' || sandbox.state === 'claimed')) await endSandbox(deps, sandbox, status)
}
