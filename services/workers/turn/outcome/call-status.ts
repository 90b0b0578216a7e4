import type { Execution } from '../../../model/executions/execution.ts'
import type { CallStatus } from '../../../model/responses/items/code-interpreter-call.ts'

/** The status of the item on the wire. Code that raised an exception ran to its end: its error is in the logs. */
export function callStatusOf({ status, reason }: Pick<Execution, 'status' | 'reason'>): CallStatus {
  if (status === 'succeeded') return 'completed'
  if (status === 'cancelled') return 'incomplete'
  return status === 'failed' && reason === 'error' ? 'completed' : 'failed'
}

/** Whether an execution counts towards the limit of consecutive failures. */
export const isFailure = ({ status }: Pick<Execution, 'status'>): boolean => status !== 'succeeded'
