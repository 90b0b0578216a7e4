import { hasEnded, type Execution, type ExecutionResult } from '../../model/executions/execution.ts'
import { loadResult } from '../../operations/executions/load-result.ts'
import { LIMITS } from '../../model/limits.ts'
import { cancelExecution } from '../../operations/executions/cancel-execution.ts'
import { storedBytes } from '../../operations/executions/stored-bytes.ts'
import type { Call } from '../../http/route.ts'
import { WireError } from './errors.ts'

const DEFAULT_SECONDS = 60

/**
 * The answer made of the result of a run. A run that has not ended, because its client disconnected or the call was held too long, is cancelled: nothing
 * can read its result. Throws WireError `execution_timeout` then.
 */
export async function answerEnded<Answer>(
  { deps }: Pick<Call, 'deps'>,
  execution: Execution,
  answer: (result: ExecutionResult | null) => Promise<Answer>,
): Promise<Answer> {
  if (!hasEnded(execution.status)) {
    await cancelExecution(deps, execution)
    throw new WireError(
      'execution_timeout',
      'The code ran longer than this server can hold a call open, and was cancelled. Split it into shorter calls.',
    )
  }
  return deps.results.hold(storedBytes(execution), async () => answer(await loadResult(deps.objects, execution)))
}

/** Seconds: what the request asks for in milliseconds, at most what the account may have. */
export async function timeLimit({ deps, caller }: Pick<Call, 'deps' | 'caller'>, askedMs: number | undefined): Promise<number> {
  const { timeoutSeconds: most } = await deps.limits.of(caller.tenant)
  const asked = askedMs === undefined ? DEFAULT_SECONDS : Math.ceil(askedMs / 1000)
  return Math.max(1, Math.min(asked, most, LIMITS.maxTimeoutSeconds))
}
