import type { Container, Hibernation } from '../../core/containers/container.ts'
import { RECONCILE_AFTER_MS } from '../../core/executions/accept-execution.ts'
import type { Execution } from '../../core/executions/execution.ts'

/** What a step has to know of its execution to decide. */
export type ExecutionView = Pick<Execution, 'tenant' | 'id' | 'fence' | 'createdAt' | 'sandboxId' | 'cancelRequestedAt'>

export type RunAction =
  | { readonly kind: 'end_cancelled'; readonly why: string }
  /** A crash came between the two writes of its acceptance. */
  | { readonly kind: 'join_queue'; readonly container: Container }
  /** Its predecessor has stood at the head for long: it may have ended without leaving the queue. */
  | { readonly kind: 'check_queue_head'; readonly container: Container; readonly head: string }
  /** A worker before this one sent the code: the execution lives in that sandbox or nowhere. */
  | { readonly kind: 'resume'; readonly container: Container }
  /** The worker that saved the variables of the container stopped in between. */
  | { readonly kind: 'end_hibernation'; readonly container: Container; readonly claim: Hibernation }
  | { readonly kind: 'run'; readonly container: Container }
  /** Another worker enqueues the execution when it is its turn. */
  | { readonly kind: 'wait' }

/** What an execution that has not ended needs next, from its rows alone, so that any step can continue where another one stopped. */
export function nextAction(execution: ExecutionView, container: Container | null, now: number): RunAction {
  if (container === null || container.deletedAt !== null) return { kind: 'end_cancelled', why: 'The container was deleted.' }
  if (container.queue[0] !== execution.id) return queueAction(execution, container, now)
  if (execution.sandboxId !== null) return { kind: 'resume', container }
  if (execution.cancelRequestedAt !== null) return { kind: 'end_cancelled', why: 'It was cancelled before it started.' }
  if (container.hibernating === null) return { kind: 'run', container }
  // While the variables are being saved no code starts; the worker that saves them enqueues the head at the end.
  return container.hibernating.expiresAt > now ? { kind: 'wait' } : { kind: 'end_hibernation', container, claim: container.hibernating }
}

function queueAction(execution: ExecutionView, container: Container, now: number): RunAction {
  const [head] = container.queue
  if (head === undefined || !container.queue.includes(execution.id)) return { kind: 'join_queue', container }
  // The head of an execution that has waited this long is no acceptance under way.
  return now - execution.createdAt < RECONCILE_AFTER_MS ? { kind: 'wait' } : { kind: 'check_queue_head', container, head }
}
