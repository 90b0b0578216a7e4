import { executionOf } from '../../access.ts'
import { cancelExecution } from '../../executions/cancel-execution.ts'
import { queuePosition } from '../../executions/queue-position.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { renderExecution } from '../../render/execution.ts'
import { Execution } from '../../wire/execution.ts'

export const cancelExecutionRoute = defineRoute({
  method: 'post',
  path: '/v1/executions/{execution_id}/cancel',
  operationId: 'cancelExecution',
  tag: 'Executions',
  summary: 'Cancel an execution',
  description: 'Interrupts the code and kills it two seconds later. Idempotent: one that has ended is answered as it is.',
  answers: { 200: { description: 'The execution as it is now; its end may follow.', schema: Execution } },
  refusals: ['execution_not_found'],
  async handle(call) {
    const { deps } = call
    const found = await executionOf(call, call.param('execution_id'))
    const row = (await cancelExecution(deps, found.tenant, found.id)) ?? found
    return json(200, await renderExecution(deps, row, call.publicUrl, await queuePosition(deps.table.containers, row)))
  },
})
