import { containerOf } from '../../access.ts'
import { cancelExecution } from '../../executions/cancel-execution.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { deletedSchema } from '../../wire/list.ts'

export const deleteContainerRoute = defineRoute({
  method: 'delete',
  path: '/v1/containers/{container_id}',
  operationId: 'deleteContainer',
  tag: 'Containers',
  summary: 'Delete a container',
  description: 'Ends what runs in it, then removes its files, variables and history. From the answer on it does not exist any more.',
  answers: { 200: { description: 'It is gone.', schema: deletedSchema('container.deleted') } },
  refusals: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const { id } = await containerOf(call, call.param('container_id'))
    // The mark comes first: from then on nothing new is accepted, so the queue that comes back is the last one.
    const row = await deps.table.containers.markDeleted(caller.tenant, id, deps.clock.now())
    if (row !== null) {
      await Promise.all(row.queue.map((executionId) => cancelExecution(deps, caller.tenant, executionId)))
      // A lost message is made good by the reconciler, which finds the row by its due time.
      if (row.sandboxId !== null)
        await deps.queue
          .send('placements', { v: 1, type: 'sandbox.stop', sandboxId: row.sandboxId }, { group: caller.tenant })
          .catch(() => undefined)
    }
    return json(200, { id, object: 'container.deleted', deleted: true })
  },
})
