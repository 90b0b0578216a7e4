import type { Container } from '../../../model/containers/container.ts'
import { describeCause } from '../../../model/describe-cause.ts'
import { ExecutionSlots } from '../../../operations/executions/execution-slots.ts'
import { hasEnded } from '../../../model/executions/execution.ts'
import type { ExecutionMessage, ExecutionStepMessage } from '../../../model/messages.ts'
import { createLimitReader } from '../../../operations/tenancy/limit-reader.ts'
import { meterStorage } from '../../../operations/tenancy/meter-storage.ts'
import { createResourceCounts } from '../../../operations/tenancy/resource-counts.ts'
import { joinTrace } from '../../../model/trace.ts'
import type { RunDeps, StepDeps } from '../../deps.ts'
import { publishCompletion } from '../../../operations/executions/end-execution.ts'
import { endCancelled } from '../../../operations/executions/end-without-result.ts'
import { executionJob } from '../../../operations/executions/execution-job.ts'
import { ExecutionLease } from './execution-lease.ts'
import { breakHibernation, hibernate } from '../hibernation/hibernate.ts'
import { joinBeside, joinQueue, leaveQueue, removeStaleQueueHead } from './container-queue.ts'
import { nextAction, type ExecutionView, type RunAction } from './next-action.ts'
import { SandboxRun, type NextContainer } from './sandbox-run.ts'
import { SandboxFinder } from '../sandboxes/sandbox-finder.ts'

/** After this many reads of a row that others changed, the step leaves it to them. */
const MAX_READS = 3
/** The container in a message is used for this time, milliseconds; an older message needs a read of the rows. */
const SEEN_MS = 2_000

/**
 * Steps of an execution: each performs the next action that follows from the rows. Steps of one execution may run twice, late or in parallel: the lease
 * admits one of them, and the supervisor runs an id once.
 */
export function createRunStep(ports: RunDeps): (message: ExecutionMessage) => Promise<void> {
  const limits = createLimitReader(ports.table.tenants, ports.clock)
  const counts = createResourceCounts({ ...ports, limits })
  const deps: StepDeps = {
    ...ports,
    ...meterStorage(ports, counts, { isStrict: false }),
    limits,
    storage: counts.storageBytes,
    slots: new ExecutionSlots(ports),
  }
  const sandboxes = new SandboxFinder(deps, limits, counts.liveContainers)
  return async (message) => {
    if (message.type === 'container.hibernate') return hibernate(deps, sandboxes, message)
    const first = firstView(message, deps.clock.now())
    if (first !== null && (await step(deps, sandboxes, first)).row !== null) return
    for (let reads = 0; reads < MAX_READS; reads++) {
      const { tenant, executionId, containerId } = message
      const [execution, container] = await Promise.all([
        deps.table.executions.get(tenant, executionId),
        deps.table.containers.get(tenant, containerId),
      ])
      if (execution === null) return
      joinTrace(execution.traceparent)
      // The worker that ended it may have crashed before it published the completion.
      if (hasEnded(execution.status)) return publishCompletion(deps, execution)
      if (!(await step(deps, sandboxes, { execution, container })).hasMoved) return
    }
  }
}

/**
 * The rows as the message of an acceptance describes them, so that the first step needs no read: no worker has leased the execution, and the
 * container is the one in the message. The lease is granted only for a row that was never leased.
 */
function firstView(
  { tenant, executionId: id, seen }: ExecutionStepMessage,
  now: number,
): { readonly execution: ExecutionView; readonly container: Container } | null {
  if (seen === undefined || now - seen.at > SEEN_MS || seen.container.hibernating !== null) return null
  const execution = { tenant, id, fence: 0, createdAt: seen.at, sandboxId: null, cancelRequestedAt: null }
  return { execution, container: seen.container }
}

async function step(
  deps: StepDeps,
  sandboxes: SandboxFinder,
  { execution: read, container }: { readonly execution: ExecutionView; readonly container: Container | null },
): Promise<ExecutionLease> {
  const lease = new ExecutionLease(deps, read)
  const run = new SandboxRun(deps, sandboxes, lease)
  try {
    for (let next: NextContainer = { container }; next !== null;) {
      const action = nextAction(lease.view, next.container, deps.clock.now())
      next = await perform(deps, { lease, run }, action)
    }
  } catch (cause) {
    await handleFailure(deps, lease, cause)
  } finally {
    // Between two steps a Lambda function is frozen, including its timers.
    await sandboxes.finishClaim(read.id)
  }
  return lease
}

/** Performs one action. If the result is not null, the step decides again with that container. */
async function perform(
  deps: StepDeps,
  { lease, run }: { readonly lease: ExecutionLease; readonly run: SandboxRun },
  action: RunAction,
): Promise<NextContainer> {
  switch (action.kind) {
    case 'end_cancelled': {
      const row = await lease.acquire()
      if (row !== null) await endCancelled(deps, row, action.why)
      return null
    }
    case 'join_queue':
      await joinQueue(deps, action.container, lease.view.id)
      return null
    case 'check_queue_head':
      await removeStaleQueueHead(deps, action.container, action.head)
      return null
    case 'end_hibernation': {
      const awake = await breakHibernation(deps, action.container, action.claim)
      return awake && { container: awake }
    }
    case 'resume':
      return run.resume(action.container)
    case 'join_beside':
      await joinBeside(deps, lease)
      return null
    case 'leave_queue':
      await leaveQueue(deps, action.container, lease.view.id)
      return { container: { ...action.container, queue: action.container.queue.slice(1) } }
    case 'run':
      return run.start(action.container)
    case 'wait':
      return null
  }
}

/** A step that lost its lease leaves the row to its successor. Any other failure is retried with back-off. */
async function handleFailure(deps: StepDeps, lease: ExecutionLease, cause: unknown): Promise<void> {
  const { tenant, id, fence } = lease.view
  const recovery = await lease.recover(cause)
  switch (recovery.kind) {
    case 'released':
      if (lease.row !== null) await executionJob(deps).enqueue(lease.row, 0)
      return
    case 'lost': {
      // Another worker continues, or the reply to the commit of the end was lost.
      const present = await deps.table.executions.get(tenant, id)
      if (present !== null && hasEnded(present.status)) await publishCompletion(deps, present)
      return
    }
    case 'rescheduled':
    case 'held': {
      const retryInSeconds = recovery.kind === 'rescheduled' ? recovery.retryInSeconds : null
      const detail = describeCause(cause)
      deps.telemetry.emit({ event: 'run_step', outcome: 'error', tenant, execution: id, fence, retry_in_seconds: retryInSeconds, detail })
      if (recovery.kind === 'held') throw cause
    }
  }
}
