import { notifyExecution } from '../../operations/notify/notify-execution.ts'
import type { Execution } from '../../model/executions/execution.ts'
import { releaseLease } from '../../jobs/lease.ts'
import type { RunDeps } from '../deps.ts'
import type { ExecutionLog } from './execution-log.ts'

/** Hands running code to the next step: the supervisor keeps its events. */
export async function handOver(
  { table, clock, queue }: Pick<RunDeps, 'table' | 'clock' | 'queue'>,
  row: Execution,
  { writer }: ExecutionLog,
): Promise<void> {
  await writer.drain()
  await releaseLease(table.executions, clock, row, { patch: { stepsFailSince: null } })
  await notifyExecution(queue, row.tenant, row.containerId, row.id)
}
