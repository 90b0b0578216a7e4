import { createContainer } from '../containers/create-container.ts'
import { ServiceError } from '../../model/errors.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import { endContainer } from '../containers/end-container.ts'
import { cancelExecution } from '../executions/cancel-execution.ts'
import { runCode, waitForExecution, type RunContext } from '../executions/run-code.ts'
import { defaultPolicy } from '../network/new-policy.ts'
import { checkSource } from '../executions/source.ts'

export interface ProgramLimits {
  /** Time limit of the code, seconds. */
  readonly runSeconds: number
  /** Maximum wait for the end, including the wait for a sandbox, milliseconds; then the code is stopped. */
  readonly answerMs: number
  /** Maximum wait for the stop after that, milliseconds. */
  readonly stopMs: number
}

/**
 * Runs a program in a container that exists for this call only. `isCutOff`: it was stopped at the end of the wait. Throws ServiceError
 * `sandbox_unavailable` when it did not start.
 */
export async function runProgram(
  context: RunContext,
  code: string,
  limits: ProgramLimits,
): Promise<{ readonly execution: Execution; readonly isCutOff: boolean }> {
  const { deps, caller } = context
  const { tenant, subject } = caller
  const source = checkSource({ code })
  const startedAt = deps.clock.now()
  const timeoutSeconds = Math.min(limits.runSeconds, (await deps.limits.of(tenant)).timeoutSeconds)
  const network = await defaultPolicy(deps, tenant)
  const { id: containerId } = await createContainer(deps.table, { tenant, subject, name: 'execute', memoryTier: '1g', network }, startedAt)
  try {
    const { execution } = await runCode(context, { containerId, source, timeoutSeconds, waitMs: limits.answerMs })
    if (hasEnded(execution.status)) return { execution, isCutOff: false }
    const cancelled = (await cancelExecution(deps, { tenant, id: execution.id })) ?? execution
    const read = async (): Promise<Execution> => (await deps.table.executions.get(tenant, execution.id)) ?? cancelled
    const stopped = await waitForExecution(context, execution.id, { read, waitMs: limits.stopMs })
    if (stopped.sandboxId === null)
      throw new ServiceError('sandbox_unavailable', 'No sandbox was free in time, so the code did not run. Call again.')
    return { execution: stopped, isCutOff: true }
  } finally {
    await endContainer(deps, tenant, containerId)
  }
}
