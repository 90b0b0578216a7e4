import { topicOf } from '../../../core/events.ts'
import { hasEnded } from '../../../core/executions/execution.ts'
import { executionOf } from '../../access.ts'
import { queuePosition } from '../../executions/queue-position.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { waitForRow } from '../../../jobs/wait-for-row.ts'
import { renderExecution } from '../../render/execution.ts'
import { Execution, WaitQuery } from '../../wire/execution.ts'

export const getExecutionRoute = defineRoute({
  method: 'get',
  path: '/v1/executions/{execution_id}',
  operationId: 'getExecution',
  tag: 'Executions',
  summary: 'Get an execution',
  description: 'With `wait` the answer comes at its end, or after that many seconds as it is then.',
  query: WaitQuery,
  answers: { 200: { description: 'The execution.', schema: Execution } },
  refusals: ['execution_not_found'],
  async handle(call) {
    const { deps } = call
    const id = call.param('execution_id')
    const seconds = call.query.wait ?? 0
    const subscription = seconds > 0 ? deps.signals.subscribe(topicOf('execution', id)) : null
    try {
      const first = await executionOf(call, id)
      const read = async () => (await deps.table.executions.get(first.tenant, id)) ?? first
      const until = { now: () => deps.clock.now(), deadline: deps.clock.now() + seconds * 1000, signal: call.request.signal }
      const row = subscription === null ? first : await waitForRow(subscription, read, (current) => hasEnded(current.status), until, first)
      return json(200, await renderExecution(deps, row, call.publicUrl, await queuePosition(deps.table.containers, row)))
    } finally {
      subscription?.close()
    }
  },
})
