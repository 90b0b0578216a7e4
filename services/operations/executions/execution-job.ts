import { notifyExecution } from '../notify/notify-execution.ts'
import type { Execution } from '../../model/executions/execution.ts'
import type { Job } from '../../jobs/job.ts'
import type { EndDeps } from './end-execution.ts'
import { endDeadLetter } from './end-without-result.ts'

/** An execution as the job engine sees it. */
export const executionJob = (deps: EndDeps): Job<Execution> => ({
  rows: deps.table.executions,
  enqueue: ({ tenant, containerId, id }, delaySeconds) => notifyExecution(deps.queue, { tenant, containerId, id }, { delaySeconds }),
  endAsDeadLetter: async (row) => void (await endDeadLetter(deps, row)),
})
