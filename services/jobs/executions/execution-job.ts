import { notifyExecution } from '../../core/executions/accept-execution.ts'
import type { Execution } from '../../core/executions/execution.ts'
import type { Job } from '../job.ts'
import type { EndDeps } from './end-execution.ts'
import { endDeadLetter } from './end-without-result.ts'

/** An execution as the job engine sees it. */
export const executionJob = (deps: EndDeps): Job<Execution> => ({
  rows: deps.table.executions,
  enqueue: ({ tenant, containerId, id }, delaySeconds) => notifyExecution(deps.queue, tenant, containerId, id, { delaySeconds }),
  endAsDeadLetter: async (row) => void (await endDeadLetter(deps, row)),
})
