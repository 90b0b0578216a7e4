import { isHibernated, needsSync, type Container } from '../../../model/containers/container.ts'
import { hasEnded, isPaused, type Execution } from '../../../model/executions/execution.ts'
import { workKindOfId } from '../../../model/executions/work-kinds.ts'
import { isPausedState } from '../../../model/sandboxes/sandbox.ts'
import { endCancelled, endInvalid, endLost, endRefused, endUnstarted } from '../../../operations/executions/end-without-result.ts'
import { freeSlot } from '../../../operations/executions/free-slot.ts'
import { notifyExecution } from '../../../operations/notify/notify-execution.ts'
import type { StepDeps } from '../../deps.ts'
import type { Acquired, SandboxFinder } from '../sandboxes/sandbox-finder.ts'
import type { RunOutcome } from '../stream/failures.ts'
import { joinQueue } from './container-queue.ts'
import type { ExecutionLease } from './execution-lease.ts'
import { isSent, SandboxAttempt, startPatch, type Place } from './sandbox-attempt.ts'

/** The reconciler reads a waiting execution again after this, milliseconds; the end of another one sends the message that starts it. */
const SLOT_RECHECK_MS = 60_000

/** A container that hibernates has saved its variables and released its memory after about this time, seconds. */
const FREEING_SECONDS = 2

/** The container that the step decides with next; null when the step is done. */
export type NextContainer = { readonly container: Container | null } | null

/** Runs the row of one step in a sandbox of its container. */
export class SandboxRun {
  readonly #deps: StepDeps
  readonly #sandboxes: SandboxFinder
  readonly #lease: ExecutionLease

  constructor(deps: StepDeps, sandboxes: SandboxFinder, lease: ExecutionLease) {
    this.#deps = deps
    this.#sandboxes = sandboxes
    this.#lease = lease
  }

  /** Finds a sandbox and runs the code there. Only the head of the queue prepares a sandbox, so that one step at a time does. */
  async start(container: Container): Promise<NextContainer> {
    const { id } = this.#lease.view
    const kind = workKindOfId(id)
    const isPrepared = !needsSync(container) && !(kind.usesVariables && isHibernated(container))
    const live = isPrepared ? await this.#sandboxes.ownAnswering(container) : null
    if (live === null && container.queue[0] !== id) {
      await joinQueue(this.#deps, container, id)
      return null
    }
    // The common case, a live sandbox with nothing to copy: the lease and `running` are one write.
    const patch =
      live === null ? ({ status: 'starting' } as const) : startPatch(this.#deps.clock, kind, { container, session: live, lost: [] })
    const [row, hasSlot] = await Promise.all([this.#lease.acquire(patch), this.#requestSlot(container)])
    if (row === null) {
      await this.#freeUnusedSlot()
      return null
    }
    if (row.cancelRequestedAt !== null) {
      await endCancelled(this.#deps, row, 'It was cancelled before it started.')
      return null
    }
    if (!hasSlot) {
      await this.#waitForSlot(container, { isMarked: live !== null })
      return null
    }
    return live === null ? this.#runInAcquired(row, container) : this.#run(row, { container, session: live, mode: 'marked' })
  }

  /** Continues to read the events of code that an earlier worker sent. The code is never sent to a second sandbox. */
  async resume(container: Container): Promise<NextContainer> {
    const row = await this.#lease.acquire()
    if (row === null) return null
    const held = container.sandboxId === row.sandboxId ? await this.#sandboxes.holding(container) : null
    if (held === 'paused') return this.#pause(row, container)
    if (held === null) return this.#settle({ kind: 'lost', reason: 'sandbox_lost' }, row, container)
    return this.#run(row, { ...held, mode: isPaused(row) ? 'continued' : 'resumed' })
  }

  async #runInAcquired(row: Execution, container: Container): Promise<NextContainer> {
    const acquired = await this.#acquireSandbox(row, container)
    switch (acquired.kind) {
      case 'live':
        return this.#run(row, { container: acquired.container, session: acquired.session, mode: 'fresh' })
      case 'failed':
        await endUnstarted(this.#deps, row, acquired.check)
        return null
      case 'full':
        await this.#lease.release()
        if (acquired.isFreeing === true) await notifyExecution(this.#deps.queue, row, { delaySeconds: FREEING_SECONDS })
        return null
      case 'starting':
      case 'moved':
        await this.#waitForSandbox(row, acquired)
        return null
    }
  }

  async #run(row: Execution, place: Place): Promise<NextContainer> {
    const { container, mode } = place
    const continued = mode === 'continued' ? await this.#continue(row, container) : row
    const outcome = await new SandboxAttempt(this.#deps, continued, place).run()
    // An earlier worker may have sent the code there, and a second sandbox must not receive it.
    const reached: RunOutcome = outcome.kind === 'unreachable' && isSent(place) ? { kind: 'lost', reason: 'sandbox_lost' } : outcome
    if (reached.kind === 'lost' && (await this.#wasSuspended(row, container))) return this.#pause(continued, container)
    return this.#settle(reached, continued, container)
  }

  /** Its sandbox was suspended while the command ran there: the stream of its events ended, and the program did not. Each suspension has another snapshot. */
  async #wasSuspended({ tenant, id, containerId }: Execution, before: Container): Promise<boolean> {
    if (workKindOfId(id).place !== 'beside') return false
    const present = await this.#deps.table.containers.get(tenant, containerId)
    const snapshot = present?.snapshot ?? null
    const isSame = present !== null && present.deletedAt === null && present.sandboxId === before.sandboxId
    return isSame && snapshot?.suspendedIn === before.sandboxId && snapshot?.objectKey !== before.snapshot?.objectKey
  }

  /**
   * Leaves a command to the resumption of its sandbox, which notifies it. It holds no slot meanwhile, and its time limit does not count that time. One that was
   * cancelled requests the resumption, because only the sandbox can end it.
   */
  async #pause(row: Execution, container: Container): Promise<null> {
    const { table, queue, clock } = this.#deps
    const { tenant, id, sandboxId } = row
    const { ms = 0, since = null } = row.pauses ?? {}
    await this.#lease.release({ pauses: { ms, since: since ?? clock.now() } })
    await freeSlot(this.#deps, tenant, id)
    // Messages about the resumption and the cancellation may have found the row leased.
    const present = await table.executions.get(tenant, id)
    const sandbox = sandboxId === null ? null : await table.sandboxes.get(sandboxId)
    if (sandbox === null || !isPausedState(sandbox)) await notifyExecution(queue, row)
    else if (present !== null && present.cancelRequestedAt !== null) await this.#sandboxes.wake(container)
    return null
  }

  /** Its processes run again, whether the tenant has a slot for it or not. */
  async #continue(row: Execution, container: Container): Promise<Execution> {
    await this.#requestSlot(container)
    const now = this.#deps.clock.now()
    const { ms = 0, since = null } = row.pauses ?? {}
    return this.#lease.commit({ pauses: { ms: ms + now - (since ?? now), since: null } })
  }

  async #settle(outcome: RunOutcome, row: Execution, container: Container): Promise<NextContainer> {
    switch (outcome.kind) {
      case 'done':
        return null
      case 'invalid':
        await endInvalid(this.#deps, row, outcome.detail)
        return null
      case 'refused':
        await endRefused(this.#deps, row, outcome.detail)
        return null
      case 'lost':
        // The code may have run, in part or whole; it is not run again.
        if (container.sandboxId !== null && container.sandboxId === (row.sandboxId ?? container.sandboxId))
          await this.#sandboxes.abandon(container)
        await endLost(this.#deps, row, outcome.reason)
        return null
      case 'busy':
        await this.#lease.release()
        return null
      case 'unreachable': {
        // The sandbox received no byte, so nothing ran there and another sandbox may receive the code.
        await this.#lease.commit({ status: 'starting', sandboxId: null, startedAt: null })
        const detached = await this.#sandboxes.abandon(container)
        if (detached !== null && this.#lease.canTryAnotherSandbox()) return { container: detached }
        await this.#lease.release()
        return null
      }
    }
  }

  async #acquireSandbox(row: Execution, container: Container): Promise<Acquired> {
    const { clock, telemetry } = this.#deps
    const startedAt = clock.now()
    const acquired = await this.#sandboxes.acquire(container, row)
    telemetry.emit({
      event: 'claim',
      outcome: acquired.kind,
      tenant: row.tenant,
      execution: row.id,
      container: container.id,
      sandbox: acquired.kind === 'live' ? acquired.session.sandboxId : acquired.kind === 'starting' ? acquired.sandboxId : null,
      tier: container.memoryTier,
      claim_ms: clock.now() - startedAt,
    })
    return acquired
  }

  /** The message that reports the sandbox may have found the row leased, so the sandbox is read again after the release. */
  async #waitForSandbox(row: Execution, acquired: Extract<Acquired, { readonly kind: 'starting' | 'moved' }>): Promise<void> {
    const { table, queue } = this.#deps
    const failsSince = acquired.kind === 'starting' ? acquired.failsSince : undefined
    await this.#lease.release(failsSince === undefined ? {} : { startsFailSince: failsSince })
    const sandbox = acquired.kind === 'starting' ? await table.sandboxes.get(acquired.sandboxId) : null
    if (sandbox?.state !== 'starting' && sandbox?.state !== 'suspending') await notifyExecution(queue, row)
  }

  /** Whether the tenant may run this execution now; otherwise it waits for a slot. */
  async #requestSlot({ id: containerId }: Container): Promise<boolean> {
    const { tenant, id: executionId } = this.#lease.view
    const { concurrentExecutions } = await this.#deps.limits.of(tenant)
    return this.#deps.slots.request(tenant, { executionId, containerId }, concurrentExecutions)
  }

  /** Frees the slot of an execution that ended before this step requested it. */
  async #freeUnusedSlot(): Promise<void> {
    const { tenant, id } = this.#lease.view
    const row = await this.#deps.table.executions.get(tenant, id)
    if (row === null || hasEnded(row.status)) await freeSlot(this.#deps, tenant, id)
  }

  /** Leaves an execution whose tenant is at its limit of concurrent executions. `isMarked`: the row is `running` already. */
  async #waitForSlot({ tenant, id }: Container, { isMarked }: { readonly isMarked: boolean }): Promise<void> {
    const { table, clock } = this.#deps
    if (isMarked) await this.#lease.commit({ status: 'starting', sandboxId: null, startedAt: null })
    await this.#lease.release()
    const dueAt = clock.now() + SLOT_RECHECK_MS
    await Promise.all([table.executions.postpone(tenant, this.#lease.view.id, dueAt), table.containers.postpone(tenant, id, dueAt)])
  }
}
