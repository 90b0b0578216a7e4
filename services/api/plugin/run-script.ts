import { acceptExecution } from '../../core/executions/accept-execution.ts'
import { createContainer } from '../../core/containers/create-container.ts'
import { ServiceError } from '../../core/errors.ts'
import { topicOf } from '../../core/events.ts'
import { hasEnded, type Execution } from '../../core/executions/execution.ts'
import { newId } from '../../core/ids.ts'
import { loadResult } from '../../core/executions/load-result.ts'
import { endContainer } from '../containers/end-container.ts'
import { cancelExecution } from '../executions/cancel-execution.ts'
import { checkSource, storeSource } from '../executions/make-source.ts'
import type { Call } from '../http/route.ts'
import { waitForRow } from '../../jobs/wait-for-row.ts'
import { scriptResult, type ScriptResult } from './script-result.ts'

/** What the code may take, seconds. */
const RUN_SECONDS = 30
/** Until then it has to have ended, with the wait for a sandbox; and so long it has to stop when it has not. Together below 45 s, milliseconds. */
const ANSWER_MS = 40_000
const STOP_MS = 3_500

/** Runs a program in a container that is there for this call alone. Throws ServiceError `sandbox_unavailable` when it never began. */
export async function runScript(
  call: Pick<Call, 'deps' | 'caller' | 'request' | 'publicUrl' | 'note'>,
  code: string,
): Promise<ScriptResult> {
  const { deps, caller, note } = call
  const { tenant, subject } = caller
  const startedAt = deps.clock.now()
  const source = checkSource({ code })
  const { id: containerId } = await createContainer(deps.table, { tenant, subject, name: 'execute', memoryTier: '1g' }, startedAt)
  const id = newId('execution')
  note('container_id', containerId)
  note('execution_id', id)
  const subscription = deps.signals.subscribe(topicOf('execution', id))
  try {
    const { execution } = await acceptExecution(
      deps,
      {
        tenant,
        subject,
        id,
        containerId,
        responseId: null,
        source: await storeSource(deps.objects, tenant, containerId, source),
        timeoutSeconds: RUN_SECONDS,
        onError: 'stop',
        storeHistory: true,
        metadata: {},
        publicUrl: call.publicUrl,
      },
      startedAt,
    )
    const until = (deadline: number, first: Execution): Promise<Execution> =>
      waitForRow(
        subscription,
        async () => (await deps.table.executions.get(tenant, id)) ?? first,
        (row) => hasEnded(row.status),
        { now: () => deps.clock.now(), deadline, signal: call.request.signal },
        first,
      )
    const row = await until(startedAt + ANSWER_MS, execution)
    if (hasEnded(row.status)) return scriptResult(row, await loadResult(deps.objects, row), false)
    const wished = (await cancelExecution(deps, tenant, id)) ?? row
    const stopped = await until(startedAt + ANSWER_MS + STOP_MS, wished)
    if (stopped.sandboxId === null)
      throw new ServiceError('sandbox_unavailable', 'No sandbox was free in time, so the code did not run. Call again.')
    return scriptResult(stopped, await loadResult(deps.objects, stopped), true)
  } finally {
    subscription.close()
    await endContainer(deps, tenant, containerId)
  }
}
