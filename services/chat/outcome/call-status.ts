import type { Execution } from '../../core/executions/execution.ts'
import type { CallStatus } from '../../core/responses/response.ts'

/** How an execution's end is told on the wire. Code that raised ran to its end all the same: its error is in the logs. */
export function callStatusOf({ status, reason }: Pick<Execution, 'status' | 'reason'>): CallStatus {
  if (status === 'succeeded') return 'completed'
  if (status === 'cancelled') return 'incomplete'
  return status === 'failed' && reason === 'error' ? 'completed' : 'failed'
}

/** A try that counts towards the limit of failing tries. */
export const isFailingTry = ({ status }: Pick<Execution, 'status'>): boolean => status !== 'succeeded'
