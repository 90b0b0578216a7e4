import { acceptExecution } from '../../../core/executions/accept-execution.ts'
import { topicOf } from '../../../core/events.ts'
import { hasEnded, type Execution as ExecutionRow } from '../../../core/executions/execution.ts'
import { LIMITS } from '../../../core/limits.ts'
import { DEFAULT_LIMITS } from '../../../core/tenants/tenant-limits.ts'
import { checkContainer, containerOf } from '../../access.ts'
import { checkRoom, checkTimeout } from '../../check-limits.ts'
import { claimExecutionId } from '../../executions/idempotency.ts'
import { checkSource, storeSource, type CheckedSource } from '../../executions/make-source.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute, type Call } from '../../http/route.ts'
import { waitForRow } from '../../../jobs/wait-for-row.ts'
import { renderExecution } from '../../render/execution.ts'
import { Execution, RunCode, WaitQuery } from '../../wire/execution.ts'

type RunCall = Call<WaitQuery, RunCode>

export const runCodeRoute = defineRoute({
  method: 'post',
  path: '/v1/containers/{container_id}/executions',
  operationId: 'runCode',
  tag: 'Executions',
  summary: 'Run code or a notebook',
  description:
    'Executions of one container run one after another. With an `Idempotency-Key` header the same call can be repeated and runs once.',
  headers: { 'idempotency-key': 'At most 255 printable characters; remembered for a day.' },
  query: WaitQuery,
  body: RunCode,
  answers: {
    201: { description: 'It ended within `wait`. Failing code is a result, not an error.', schema: Execution },
    202: { description: 'It goes on; read it again at `Location`.', schema: Execution, headers: { Location: 'Where to read it.' } },
  },
  refusals: [
    'container_not_found',
    'invalid_notebook',
    'limit_exceeded',
    'idempotency_key_reused',
    'too_many_queued',
    'concurrency_limit_reached',
  ],
  async handle(call) {
    const source = checkSource(call.body)
    const containerId = call.param('container_id')
    const { deps, caller } = call
    const timeoutSeconds = await checkTimeout(deps, caller.tenant, call.body.timeout_seconds)
    const isUnlimited = (await deps.limits.of(caller.tenant)).liveContainers === DEFAULT_LIMITS.liveContainers
    // What lies in objects is stored below its container, so that has to be there first; and a refusal uses up no key.
    const isPlain = source.kind === 'code' && isUnlimited && !call.request.headers.has('idempotency-key')
    const known = isPlain ? await checkContainer(call, containerId) : await containerOf(call, containerId)
    const { id, isNew } = await claimExecutionId(call.deps, call.caller, call.request, { containerId: containerId, rawBody: call.rawBody })
    call.note('container_id', containerId)
    call.note('execution_id', id)
    // Listening starts before the row exists, so its end cannot be missed.
    const subscription = call.deps.signals.subscribe(topicOf('execution', id))
    try {
      const before = isNew ? null : await call.deps.table.executions.get(call.caller.tenant, id)
      // A call that was accepted before is answered again, however many containers are live by now.
      if (before === null && known !== undefined) await checkRoom(deps, known)
      const accepted = before === null ? await accept(call, containerId, id, source, timeoutSeconds) : { row: before, position: null }
      const row = await waitForEnd(call, subscription, accepted.row)
      const body = await renderExecution(call.deps, row, call.publicUrl, accepted.position)
      const replayed: Record<string, string> = before === null ? {} : { 'idempotent-replayed': 'true' }
      return hasEnded(row.status)
        ? json(201, body, replayed)
        : json(202, body, { ...replayed, location: `${call.publicUrl}/v1/executions/${id}` })
    } finally {
      subscription.close()
    }
  },
})

async function accept(
  call: RunCall,
  containerId: string,
  id: string,
  source: CheckedSource,
  timeoutSeconds: number,
): Promise<{ row: ExecutionRow; position: number | null }> {
  const { deps, caller, body } = call
  const { execution, container } = await acceptExecution(
    deps,
    {
      tenant: caller.tenant,
      subject: caller.subject,
      id,
      containerId,
      responseId: null,
      source: await storeSource(deps.objects, caller.tenant, containerId, source),
      timeoutSeconds,
      onError: body.on_error ?? 'stop',
      storeHistory: body.store_history ?? true,
      metadata: body.metadata ?? {},
      publicUrl: call.publicUrl,
    },
    deps.clock.now(),
  )
  const position = container.queue.indexOf(id)
  return { row: execution, position: position === -1 ? null : position }
}

function waitForEnd(
  call: RunCall,
  subscription: ReturnType<RunCall['deps']['signals']['subscribe']>,
  row: ExecutionRow,
): Promise<ExecutionRow> {
  const { deps } = call
  const deadline = deps.clock.now() + (call.query.wait ?? LIMITS.defaultWaitSeconds) * 1000
  return waitForRow(
    subscription,
    async () => (await deps.table.executions.get(row.tenant, row.id)) ?? row,
    (current) => hasEnded(current.status),
    { now: () => deps.clock.now(), deadline, signal: call.request.signal },
    row,
  )
}
