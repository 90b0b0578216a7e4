import { z } from '@hono/zod-openapi'
import { renderResponse } from '../../../core/responses/render-response.ts'
import { loadForRendering } from '../../../core/responses/inline-images.ts'
import { responseOf } from '../../access.ts'
import { json } from '../../http/json-response.ts'
import { defineRoute } from '../../http/route.ts'
import { streamCall } from '../../http/stream-call.ts'
import { responseFrames } from '../../responses/response-frames.ts'
import { queryInteger } from '../../wire/list.ts'
import { ResponseBody } from '../../wire/response.ts'

export const GetResponseQuery = z.object({
  include: z
    .union([z.string().transform((name) => [name]), z.array(z.string())])
    .optional()
    .openapi({ type: 'array', items: { type: 'string' }, description: 'As `include[]=code_interpreter_call.outputs`.' }),
  stream: z
    .enum(['true', 'false'], 'give true or false')
    .optional()
    .openapi({ description: 'Answers with the events instead, from the start or after `starting_after`.' }),
  starting_after: queryInteger(-1, 999_999_999, 'The `sequence_number` of the last event that you have.').optional(),
})

export const getResponseRoute = defineRoute({
  method: 'get',
  path: '/v1/responses/{response_id}',
  operationId: 'getResponse',
  tag: 'Responses',
  summary: 'Get a response, or follow its events',
  query: GetResponseQuery,
  answers: { 200: { description: 'The response, or its events when `stream` is true.', schema: ResponseBody } },
  refusals: ['response_not_found', 'too_many_streams'],
  async handle(call) {
    const { deps, query } = call
    const row = await responseOf(call, call.param('response_id'))
    if (query.stream === 'true')
      return streamCall(call, async () => (signal) => responseFrames(deps, row, { after: query.starting_after ?? -1, signal }))
    const { include = [] } = query
    return json(200, renderResponse(await loadForRendering(deps.objects, row, include ?? []), { include: include ?? [] }))
  },
})
