import { notifyExecution, RECONCILE_AFTER_MS } from '../../core/executions/accept-execution.ts'
import { isAsleep, type Container } from '../../core/containers/container.ts'
import { describeCause } from '../../core/describe-cause.ts'
import { hasEnded, type Execution } from '../../core/executions/execution.ts'
import { createLimitReader } from '../../core/tenants/limit-reader.ts'
import type { ExecutionMessage, ExecutionStepMessage } from '../../core/messages.ts'
import type { Patch } from '../../core/ports/leased-store.ts'
import type { SandboxSession } from '../../core/sandboxes/sandbox.ts'
import { joinTrace } from '../../core/trace.ts'
import type { RunDeps, StepDeps } from '../deps.ts'
import { createSandboxFinder, type Acquired, type SandboxFinder } from './acquire-sandbox.ts'
import { removeStaleQueueHead } from './remove-stale-queue-head.ts'
import { publishCompletion } from './end-execution.ts'
import { endCancelled, endLost, endUnstarted } from './end-without-result.ts'
import { breakHibernation, hibernate } from './hibernate.ts'
import { acquireLease, LeaseLostError, releaseLease } from '../../jobs/lease.ts'
import { rescheduleAfterFailure } from '../../jobs/reschedule.ts'
import { executionJob } from './execution-job.ts'
import { runInSandbox, SandboxLost, SandboxUnreachable, startPatch } from './run-in-sandbox.ts'
import { SandboxBusy } from './restore-variables.ts'
import { needsSync } from './sync-files.ts'

const MAX_SANDBOXES_PER_STEP = 3
/** A row that others hold again and again is left to them. */
const MAX_LOOKS = 3
/** What a message says of its container is good for so long, milliseconds; then the rows are read. */
const SEEN_MS = 2_000

/** What a step has to know of its row before it takes it. */
type Looked = Pick<Execution, 'tenant' | 'id' | 'fence' | 'createdAt' | 'sandboxId' | 'cancelRequestedAt'>

/**
 * One step of an execution: whatever the rows say is to be done next. It may be called twice, late or in parallel for the same execution;
 * the lease lets one of them work, and the supervisor runs an id once.
 */
export function createRunStep(ports: RunDeps): (message: ExecutionMessage) => Promise<void> {
  const deps: StepDeps = { ...ports, limits: createLimitReader(ports.table.tenants, ports.clock) }
  const finder = createSandboxFinder(deps, deps.limits)

  /** True when the row moved between the look at it and the lease: then what was decided may be wrong, and is decided anew. */
  async function step({ tenant, executionId: id, containerId }: ExecutionStepMessage): Promise<boolean> {
    const [row, container] = await Promise.all([deps.table.executions.get(tenant, id), deps.table.containers.get(tenant, containerId)])
    if (row === null) return false
    joinTrace(row.traceparent)
    if (hasEnded(row.status)) {
      await publishCompletion(deps, row)
      return false
    }
    const run = new RunStep(deps, finder, row)
    await advance(run, row, container)
    return run.hasMoved
  }

  /**
   * The first step of an execution, without a look at its rows: nobody has had it, and its container is as the message says. The lease is given
   * for a row that nobody ever held, and for no other. False when it was not given: then the rows are read.
   */
  async function firstStep({ tenant, executionId: id, seen }: ExecutionStepMessage): Promise<boolean> {
    if (seen === undefined || deps.clock.now() - seen.at > SEEN_MS || seen.container.hibernating !== null) return false
    const row: Looked = { tenant, id, fence: 0, createdAt: seen.at, sandboxId: null, cancelRequestedAt: null }
    const run = new RunStep(deps, finder, row)
    await advance(run, row, seen.container)
    return run.hasTaken
  }

  async function advance(run: RunStep, { tenant, id }: Looked, container: Container | null): Promise<void> {
    try {
      await run.advance(container)
    } catch (cause) {
      if (!(cause instanceof LeaseLostError)) {
        if (await run.putOff(cause)) return
        throw cause
      }
      // Somebody else holds the row now and goes on, or the answer to the commit of the end got lost.
      const present = await deps.table.executions.get(tenant, id)
      if (present !== null && hasEnded(present.status)) await publishCompletion(deps, present)
      else await run.letGo()
    } finally {
      // Between two steps a Lambda stands still, timers too.
      await finder.settle(id)
    }
  }

  return async (message) => {
    if (message.type === 'container.hibernate') return hibernate(deps, finder, message)
    if (await firstStep(message)) return
    for (let look = 0; look < MAX_LOOKS && (await step(message)); look++);
  }
}

class RunStep {
  readonly #deps: StepDeps
  readonly #finder: SandboxFinder
  readonly #row: Looked
  #taken: Execution | null = null
  /** Somebody else had the row since this step read it. */
  hasMoved = false

  constructor(deps: StepDeps, finder: SandboxFinder, row: Looked) {
    this.#deps = deps
    this.#finder = finder
    this.#row = row
  }

  get hasTaken(): boolean {
    return this.#taken !== null
  }

  async advance(container: Container | null): Promise<void> {
    const row = this.#row
    if (container === null || container.deletedAt !== null)
      return this.#endAs((taken) => endCancelled(this.#deps, taken, 'The container was deleted.'))
    if (container.queue[0] !== row.id) return this.#rejoin(container)
    if (row.sandboxId !== null) return this.#resume(container)
    if (row.cancelRequestedAt !== null) return this.#endAs((taken) => endCancelled(this.#deps, taken, 'It was cancelled before it began.'))
    if (container.hibernating === null) return this.#begin(container)
    const awake = await breakHibernation(this.#deps, container, container.hibernating)
    // While its variables are being saved no code begins; who saves them nudges the head at the end.
    if (awake !== null) return this.#begin(awake)
  }

  /**
   * Not at the head: its turn comes when its predecessor ends, or is found dead: who waits that long stands behind no acceptance under way.
   * Missing from the queue: a crash came between two writes of its acceptance.
   */
  async #rejoin(container: Container): Promise<void> {
    const { table, queue, clock } = this.#deps
    const now = clock.now()
    const [head] = container.queue
    if (head !== undefined && container.queue.includes(this.#row.id)) {
      if (now - this.#row.createdAt >= RECONCILE_AFTER_MS) await removeStaleQueueHead(this.#deps, container, head)
      return
    }
    const after = await table.containers.enqueue(container.tenant, container.id, this.#row.id, now, now + RECONCILE_AFTER_MS)
    if (typeof after !== 'string' && after.queue[0] === this.#row.id)
      await notifyExecution(queue, container.tenant, container.id, this.#row.id)
  }

  async #begin(container: Container): Promise<void> {
    const known = needsSync(container) || isAsleep(container) ? null : await this.#finder.ownAnswering(container)
    if (known !== null) {
      // The common case, a live sandbox with nothing to copy: the lease and `running` are one write.
      const taken = await this.#take(startPatch(this.#deps, container, known, []))
      if (taken === null) return
      return this.#runWith(taken, container, known, true)
    }
    const taken = await this.#take({ status: 'starting' })
    if (taken === null) return
    return this.#runWith(taken, container, null, false)
  }

  async #runWith(taken: Execution, container: Container, session: SandboxSession | null, isMarked: boolean): Promise<void> {
    if (taken.cancelRequestedAt !== null) return endCancelled(this.#deps, taken, 'It was cancelled before it began.')
    let present = container
    let marked = isMarked
    for (let attempt = 0; attempt < MAX_SANDBOXES_PER_STEP; attempt++) {
      if (session === null) {
        const acquired = await this.#claim(present, taken)
        if (acquired.kind === 'failed') return void (await endUnstarted(this.#deps, taken))
        if (acquired.kind === 'full') return this.#release(taken)
        if (acquired.kind !== 'live') return this.#waitForSandbox(taken, acquired)
        session = acquired.session
        present = acquired.container
      }
      try {
        return await runInSandbox(this.#deps, taken, present, session, { mode: marked ? 'marked' : 'fresh' })
      } catch (cause) {
        if (cause instanceof SandboxLost) return this.#lose(taken, present, cause)
        if (cause instanceof SandboxBusy) return this.#release(taken)
        if (!(cause instanceof SandboxUnreachable)) throw cause
        // The sandbox took no byte, so nothing ran there and another one may have the code.
        const unhanded = await this.#deps.table.executions.commit(taken.tenant, taken.id, taken.fence, {
          status: 'starting',
          sandboxId: null,
          startedAt: null,
        })
        if (unhanded === null) throw new LeaseLostError(taken.id)
        const next = await this.#finder.abandon(present)
        if (next === null) return this.#release(taken)
        present = next
        session = null
        marked = false
      }
    }
    await this.#release(taken)
  }

  async #claim(container: Container, taken: Execution): Promise<Acquired> {
    const { clock, telemetry } = this.#deps
    const began = clock.now()
    const acquired = await this.#finder.acquire(container, taken)
    telemetry.emit({
      event: 'claim',
      outcome: acquired.kind,
      tenant: taken.tenant,
      execution: taken.id,
      container: container.id,
      sandbox: acquired.kind === 'live' ? acquired.session.sandboxId : acquired.kind === 'starting' ? acquired.sandboxId : null,
      tier: container.memoryTier,
      claim_ms: clock.now() - began,
    })
    return acquired
  }

  /** A worker before this one handed the code over: the execution lives in that sandbox or nowhere. */
  async #resume(container: Container): Promise<void> {
    const taken = await this.#take({})
    if (taken === null) return
    const session = container.sandboxId === taken.sandboxId ? await this.#finder.own(container) : null
    if (session === null) return this.#lose(taken, container, new SandboxLost('sandbox_lost'))
    try {
      await runInSandbox(this.#deps, taken, container, session, { mode: 'resumed' })
    } catch (cause) {
      if (cause instanceof SandboxLost) return this.#lose(taken, container, cause)
      if (cause instanceof SandboxUnreachable) return this.#lose(taken, container, new SandboxLost('sandbox_lost'))
      throw cause
    }
  }

  /** The code may have run, in part or whole; it is not run again. */
  async #lose(taken: Execution, container: Container, cause: SandboxLost): Promise<void> {
    if (container.sandboxId !== null && container.sandboxId === (taken.sandboxId ?? container.sandboxId))
      await this.#finder.abandon(container)
    await endLost(this.#deps, taken, cause.reason)
  }

  async #endAs(end: (taken: Execution) => Promise<void>): Promise<void> {
    const taken = await this.#take({})
    if (taken !== null) await end(taken)
  }

  async #take(patch: Patch<Execution>): Promise<Execution | null> {
    const { fence, sandboxId } = this.#row
    const taken = await acquireLease(this.#deps, this.#deps.table.executions, this.#row, { patch, seen: { fence, sandboxId } })
    if (taken.kind === 'taken') this.#taken = taken.row
    this.hasMoved = taken.kind === 'moved'
    return this.#taken
  }

  /** A step that stops although the row is still its own, as one whose event log a predecessor wrote to, lets another begin at once. */
  async letGo(): Promise<void> {
    if (this.#taken === null) return
    const { tenant, containerId, id } = this.#taken
    const freed = await releaseLease(this.#deps.table.executions, this.#deps.clock, this.#taken)
    if (freed !== null) await notifyExecution(this.#deps.queue, tenant, containerId, id)
  }

  /** False when there is nothing to put off, or it cannot be done. */
  async putOff(cause: unknown): Promise<boolean> {
    if (this.#taken === null) return false
    const rescheduled = await rescheduleAfterFailure(this.#deps, executionJob(this.#deps), this.#taken).catch(() => null)
    const { tenant, id, fence } = this.#taken
    this.#deps.telemetry.emit({
      event: 'run_step',
      outcome: 'error',
      tenant,
      execution: id,
      fence,
      retry_in_seconds: rescheduled?.retryInSeconds ?? null,
      detail: describeCause(cause),
    })
    return rescheduled !== null
  }

  /** The message that tells of the sandbox may have found the row held, so what it would have told is looked up after letting go. */
  async #waitForSandbox(taken: Execution, acquired: Extract<Acquired, { readonly kind: 'starting' | 'moved' }>): Promise<void> {
    const failsSince = acquired.kind === 'starting' ? acquired.failsSince : undefined
    await this.#release(taken, failsSince === undefined ? {} : { startsFailSince: failsSince })
    const { table, queue } = this.#deps
    const sandbox = acquired.kind === 'starting' ? await table.sandboxes.get(acquired.sandboxId) : null
    if (sandbox?.state !== 'starting') await notifyExecution(queue, taken.tenant, taken.containerId, taken.id)
  }

  async #release(taken: Execution, patch: Patch<Execution> = {}): Promise<void> {
    await releaseLease(this.#deps.table.executions, this.#deps.clock, taken, { patch: { ...patch, stepsFailSince: null } })
  }
}
