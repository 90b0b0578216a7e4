import { isSuspended, runsBeside, needsSync, type Container, type Hibernation } from '../../../model/containers/container.ts'
import { RECONCILE_AFTER_MS } from '../../../model/lease.ts'
import { workKindOfId } from '../../../model/executions/work-kinds.ts'
import type { Execution } from '../../../model/executions/execution.ts'

/** The fields of an execution that determine the next action. */
export type ExecutionView = Pick<Execution, 'tenant' | 'id' | 'fence' | 'createdAt' | 'sandboxId' | 'cancelRequestedAt'>

export type RunAction =
  | { readonly kind: 'end_cancelled'; readonly why: string }
  /** A crash occurred between the two writes of its acceptance. */
  | { readonly kind: 'join_queue'; readonly container: Container }
  /** The head of the queue has been there for long: it may have ended without leaving the queue. */
  | { readonly kind: 'check_queue_head'; readonly container: Container; readonly head: string }
  /** An earlier worker sent the code, so the execution runs in that sandbox or is lost. */
  | { readonly kind: 'resume'; readonly container: Container }
  /** The worker that saved the container's variables has crashed. */
  | { readonly kind: 'end_hibernation'; readonly container: Container; readonly claim: Hibernation }
  /** At the head of the queue, or beside it. */
  | { readonly kind: 'run'; readonly container: Container }
  /** A command that its acceptance left outside the container's commands. */
  | { readonly kind: 'join_beside' }
  /** A running command that is still at the head of the queue. */
  | { readonly kind: 'leave_queue'; readonly container: Container }
  /** Another worker enqueues the execution when it is its turn. */
  | { readonly kind: 'wait' }

/** The next action for an execution that has not ended. It follows from the rows alone, so any step can continue where another one stopped. */
export function nextAction(execution: ExecutionView, container: Container | null, now: number): RunAction {
  if (container === null || container.deletedAt !== null) return { kind: 'end_cancelled', why: 'The container was deleted.' }
  return workKindOfId(execution.id).place === 'beside' ? actionBeside(execution, container, now) : actionInQueue(execution, container, now)
}

function actionInQueue(execution: ExecutionView, container: Container, now: number): RunAction {
  if (container.queue[0] !== execution.id) return actionBehindHead(execution, container, now)
  if (execution.sandboxId !== null) return { kind: 'resume', container }
  if (execution.cancelRequestedAt !== null) return { kind: 'end_cancelled', why: 'It was cancelled before it started.' }
  return duringHibernation(container, now) ?? { kind: 'run', container }
}

/** Null while the container does not hibernate. */
function duringHibernation(container: Container, now: number): RunAction | null {
  if (container.hibernating === null) return null
  // While the variables are being saved no code starts; the worker that saves them enqueues the head at the end.
  return container.hibernating.expiresAt > now ? { kind: 'wait' } : { kind: 'end_hibernation', container, claim: container.hibernating }
}

/** A command waits in the queue only for a sandbox that has to be prepared. */
function actionBeside(command: ExecutionView, container: Container, now: number): RunAction {
  const isHead = container.queue[0] === command.id
  if (command.sandboxId !== null) return { kind: isHead ? 'leave_queue' : 'resume', container }
  if (command.cancelRequestedAt !== null) return { kind: 'end_cancelled', why: 'It was cancelled before it started.' }
  if (!runsBeside(container, command.id)) return { kind: 'join_beside' }
  const waits = duringHibernation(container, now)
  if (waits !== null) return waits
  const isReady = container.sandboxId !== null && !needsSync(container) && !isSuspended(container)
  if (isHead || isReady || !container.queue.includes(command.id)) return { kind: 'run', container }
  return actionBehindHead(command, container, now)
}

function actionBehindHead(execution: ExecutionView, container: Container, now: number): RunAction {
  const [head] = container.queue
  if (head === undefined || !container.queue.includes(execution.id)) return { kind: 'join_queue', container }
  // After this time the head cannot belong to an acceptance that is still in progress.
  return now - execution.createdAt < RECONCILE_AFTER_MS ? { kind: 'wait' } : { kind: 'check_queue_head', container, head }
}
