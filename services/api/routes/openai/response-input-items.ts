import { z } from '@hono/zod-openapi'
import { inputItemId, wireItems } from '../../../core/responses/input-items.ts'
import { loadResponse } from '../../../core/responses/response-blobs.ts'
import { responseOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { pageOfList } from '../../http/page-of-list.ts'
import { defineRoute } from '../../http/route.ts'
import { listOf, ListQuery, listSchema, pageOf } from '../../wire/list.ts'

export const responseInputItemsRoute = defineRoute({
  method: 'get',
  path: '/v1/responses/{response_id}/input_items',
  operationId: 'listInputItems',
  tag: 'Responses',
  summary: 'List what a response was asked',
  query: ListQuery,
  answers: {
    200: { description: 'A page of items.', schema: listSchema(z.looseObject({ id: z.string(), type: z.string() }), 'InputItemList') },
  },
  refusals: ['response_not_found'],
  async handle(call) {
    const row = await loadResponse(call.deps.objects, await responseOf(call, call.param('response_id')))
    const items = wireItems(row.request.input, (type, index, given) => given ?? inputItemId(row.id, type, index))
    const page = pageOfList(items, pageOf(call.query))
    return json(200, listOf(page.rows, page.hasMore))
  },
})
