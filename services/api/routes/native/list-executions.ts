import { containerOf, isVisible } from '../../access.ts'
import { storedBytes } from '../../executions/stored-bytes.ts'
import { collectPage } from '../../http/collect-page.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { renderExecution } from '../../render/execution.ts'
import { Execution } from '../../wire/execution.ts'
import { listOf, ListQuery, listSchema, pageOf } from '../../wire/list.ts'

/** Results on one page, bytes: a page ends early rather than hold more. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024

export const listExecutionsRoute = defineRoute({
  method: 'get',
  path: '/v1/containers/{container_id}/executions',
  operationId: 'listExecutions',
  tag: 'Executions',
  summary: 'List the executions of a container',
  description: 'A page with big results has fewer executions than `limit`; `has_more` says whether there are others.',
  query: ListQuery,
  answers: { 200: { description: 'A page of executions.', schema: listSchema(Execution, 'ExecutionList') } },
  refusals: ['container_not_found'],
  async handle(call) {
    const { deps, caller } = call
    const container = await containerOf(call, call.param('container_id'))
    const page = await collectPage(
      pageOf(call.query),
      (request) => deps.table.executions.listByContainer(caller.tenant, container.id, request),
      (row) => isVisible(row, caller),
    )
    let left = MAX_PAGE_BYTES
    const tooMuch = page.rows.findIndex((row, index) => (left -= storedBytes(row)) < 0 && index > 0)
    const rows = tooMuch === -1 ? page.rows : page.rows.slice(0, tooMuch)
    const position = (id: string): number | null => (container.queue.includes(id) ? container.queue.indexOf(id) : null)
    const data = await Promise.all(
      rows.map((row) => renderExecution(deps, row, call.publicUrl, row.status === 'queued' ? position(row.id) : null)),
    )
    return json(200, listOf(data, page.hasMore || rows.length < page.rows.length))
  },
})
