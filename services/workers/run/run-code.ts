import { isHibernated, needsSync, type Container } from '../../model/containers/container.ts'
import { notifyExecution } from '../../operations/notify/notify-execution.ts'
import type { Execution } from '../../model/executions/execution.ts'
import type { SandboxSession } from '../../model/sandboxes/sandbox.ts'
import type { StepDeps } from '../deps.ts'
import { endCancelled, endInvalid, endLost, endUnstarted } from '../../operations/executions/end-without-result.ts'
import type { ExecutionLease } from './execution-lease.ts'
import type { LossReason } from './failures.ts'
import { joinQueue } from './join-queue.ts'
import { acquireSlot, freeUnusedSlot, waitForSlot } from './slots.ts'
import { runInSandbox } from './run-in-sandbox.ts'
import type { Acquired, SandboxFinder } from './sandboxes/sandbox-finder.ts'
import { startCommandPatch, startPatch } from './start-patch.ts'

/** The container that the step decides with next; null when the step is done. */
export type NextContainer = { readonly container: Container | null } | null

/** Finds a sandbox for the head of a container and runs the code there. */
export async function runCode(
  deps: StepDeps,
  sandboxes: SandboxFinder,
  lease: ExecutionLease,
  container: Container,
): Promise<NextContainer> {
  const live = needsSync(container) || isHibernated(container) ? null : await sandboxes.ownAnswering(container)
  // The common case, a live sandbox with nothing to copy: the lease and `running` are one write.
  const acquired = lease.acquire(live === null ? { status: 'starting' } : startPatch(deps.clock, container, live, []))
  const [row, hasSlot] = await Promise.all([acquired, acquireSlot(deps, lease, container)])
  return runLeased(deps, sandboxes, lease, { container, row, live, hasSlot })
}

/**
 * Runs a command beside the container's queue if its sandbox has all files. Otherwise the command joins the queue, so that one step at a time
 * prepares the sandbox.
 */
export async function runCommand(
  deps: StepDeps,
  sandboxes: SandboxFinder,
  lease: ExecutionLease,
  container: Container,
): Promise<NextContainer> {
  const { id } = lease.view
  const live = needsSync(container) ? null : await sandboxes.ownAnswering(container)
  if (live === null && container.queue[0] !== id) {
    await joinQueue(deps, container, id)
    return null
  }
  const acquired = lease.acquire(live === null ? { status: 'starting' } : startCommandPatch(deps.clock, live, []))
  const [row, hasSlot] = await Promise.all([acquired, acquireSlot(deps, lease, container)])
  return runLeased(deps, sandboxes, lease, { container, row, live, hasSlot })
}

interface Leased {
  readonly container: Container
  readonly row: Execution | null
  readonly live: SandboxSession | null
  /** Whether the tenant may run this execution now. */
  readonly hasSlot: boolean
}

async function runLeased(
  deps: StepDeps,
  sandboxes: SandboxFinder,
  lease: ExecutionLease,
  { container, row, live, hasSlot }: Leased,
): Promise<NextContainer> {
  if (row === null) {
    await freeUnusedSlot(deps, lease)
    return null
  }
  if (row.cancelRequestedAt !== null) {
    await endCancelled(deps, row, 'It was cancelled before it started.')
    return null
  }
  if (!hasSlot) return waitForSlot(deps, lease, container, live !== null)
  if (live !== null) return runIn(deps, sandboxes, lease, row, { container, session: live, isMarked: true })
  const acquired = await acquireSandbox(deps, sandboxes, container, row)
  switch (acquired.kind) {
    case 'live':
      return runIn(deps, sandboxes, lease, row, { ...acquired, isMarked: false })
    case 'failed':
      await endUnstarted(deps, row, acquired.check)
      return null
    case 'full':
      await lease.release()
      return null
    case 'starting':
    case 'moved':
      await waitForSandbox(deps, lease, row, acquired)
      return null
  }
}

/** Continues to read the events of code that an earlier worker sent. The code is never sent to a second sandbox. */
export async function resumeCode(
  deps: StepDeps,
  sandboxes: SandboxFinder,
  lease: ExecutionLease,
  container: Container,
): Promise<NextContainer> {
  const row = await lease.acquire()
  if (row === null) return null
  const session = container.sandboxId === row.sandboxId ? await sandboxes.own(container) : null
  if (session === null) return endAsLost(deps, sandboxes, row, container, 'sandbox_lost')
  const outcome = await runInSandbox(deps, row, container, session, 'resumed')
  switch (outcome.kind) {
    case 'done':
      return null
    case 'invalid':
      return endAsInvalid(deps, row, outcome.detail)
    case 'busy':
      await lease.release()
      return null
    case 'lost':
      return endAsLost(deps, sandboxes, row, container, outcome.reason)
    case 'unreachable':
      return endAsLost(deps, sandboxes, row, container, 'sandbox_lost')
  }
}

interface Place {
  readonly container: Container
  readonly session: SandboxSession
  /** Whether the row says `running` already. */
  readonly isMarked: boolean
}

async function runIn(
  deps: StepDeps,
  sandboxes: SandboxFinder,
  lease: ExecutionLease,
  row: Execution,
  { container, session, isMarked }: Place,
): Promise<NextContainer> {
  const outcome = await runInSandbox(deps, row, container, session, isMarked ? 'marked' : 'fresh')
  switch (outcome.kind) {
    case 'done':
      return null
    case 'invalid':
      return endAsInvalid(deps, row, outcome.detail)
    case 'lost':
      return endAsLost(deps, sandboxes, row, container, outcome.reason)
    case 'busy':
      await lease.release()
      return null
    case 'unreachable': {
      // The sandbox received no byte, so nothing ran there and another sandbox may receive the code.
      await lease.commit({ status: 'starting', sandboxId: null, startedAt: null })
      const detached = await sandboxes.abandon(container)
      if (detached !== null && lease.canTryAnotherSandbox()) return { container: detached }
      await lease.release()
      return null
    }
  }
}

async function acquireSandbox(deps: StepDeps, sandboxes: SandboxFinder, container: Container, row: Execution): Promise<Acquired> {
  const startedAt = deps.clock.now()
  const acquired = await sandboxes.acquire(container, row)
  deps.telemetry.emit({
    event: 'claim',
    outcome: acquired.kind,
    tenant: row.tenant,
    execution: row.id,
    container: container.id,
    sandbox: acquired.kind === 'live' ? acquired.session.sandboxId : acquired.kind === 'starting' ? acquired.sandboxId : null,
    tier: container.memoryTier,
    claim_ms: deps.clock.now() - startedAt,
  })
  return acquired
}

/** The message that reports the sandbox may have found the row leased, so the sandbox is read again after the release. */
async function waitForSandbox(
  { table, queue }: Pick<StepDeps, 'table' | 'queue'>,
  lease: ExecutionLease,
  row: Execution,
  acquired: Extract<Acquired, { readonly kind: 'starting' | 'moved' }>,
): Promise<void> {
  const failsSince = acquired.kind === 'starting' ? acquired.failsSince : undefined
  await lease.release(failsSince === undefined ? {} : { startsFailSince: failsSince })
  const sandbox = acquired.kind === 'starting' ? await table.sandboxes.get(acquired.sandboxId) : null
  if (sandbox?.state !== 'starting') await notifyExecution(queue, row.tenant, row.containerId, row.id)
}

/** The code may have run, in part or whole; it is not run again. */
async function endAsLost(
  deps: StepDeps,
  sandboxes: SandboxFinder,
  row: Execution,
  container: Container,
  reason: LossReason,
): Promise<null> {
  if (container.sandboxId !== null && container.sandboxId === (row.sandboxId ?? container.sandboxId)) await sandboxes.abandon(container)
  await endLost(deps, row, reason)
  return null
}

async function endAsInvalid(deps: StepDeps, row: Execution, detail: string): Promise<null> {
  await endInvalid(deps, row, detail)
  return null
}
