import { acceptResponse, newResponse } from '../../../core/responses/accept-response.ts'
import { topicOf } from '../../../core/events.ts'
import { renderResponse } from '../../../core/responses/render-response.ts'
import { loadForRendering } from '../../../core/responses/inline-images.ts'
import type { ResponseRecord as ResponseRow } from '../../../core/responses/response.ts'
import { json } from '../../http/json-response.ts'
import { keepAliveJson } from '../../http/keep-alive-json.ts'
import { defineRoute, type Call } from '../../http/route.ts'
import { streamCall } from '../../http/stream-call.ts'
import { conversationIdOf, makeRequest } from '../../responses/make-request.ts'
import { responseFrames } from '../../responses/response-frames.ts'
import { waitForResponse } from '../../responses/wait-for-response.ts'
import { CreateResponse, ResponseBody } from '../../wire/response.ts'

export const createResponseRoute = defineRoute({
  method: 'post',
  path: '/v1/responses',
  operationId: 'createResponse',
  tag: 'Responses',
  summary: 'Take a chat turn',
  description:
    'Plain: the answer comes when the turn has ended. `stream`: server-sent events as it goes. `background`: the answer comes at once, with status `queued`.',
  body: CreateResponse,
  answers: { 200: { description: 'The response, or its events when `stream` is true.', schema: ResponseBody } },
  refusals: [
    'unsupported_value',
    'model_not_found',
    'container_not_found',
    'file_not_found',
    'response_not_found',
    'conversation_not_found',
    'item_not_found',
    'too_many_queued',
    'too_many_streams',
  ],
  async handle(call) {
    const { deps, caller, body } = call
    const request = await makeRequest(call)
    const row = newResponse(
      {
        tenant: caller.tenant,
        subject: caller.subject,
        request,
        previousResponseId: body.previous_response_id ?? null,
        conversationId: conversationIdOf(body),
        publicUrl: call.publicUrl,
      },
      deps.clock.now(),
    )
    call.note('response_id', row.id)
    call.note('model', request.model)
    if (request.stream) {
      return streamCall(call, async () => {
        await acceptResponse(deps, row)
        return (signal) => responseFrames(deps, row, { after: -1, signal })
      })
    }
    return answerWhenEnded(call, row)
  },
})

async function answerWhenEnded({ deps, request }: Call, row: ResponseRow): Promise<Response> {
  if (row.request.background) {
    await acceptResponse(deps, row)
    return json(200, renderResponse(row, row.request))
  }
  // Listening starts before the row exists, so its end cannot be missed.
  const subscription = deps.signals.subscribe(topicOf('response', row.id))
  await acceptResponse(deps, row).catch((error: unknown) => {
    subscription.close()
    throw error
  })
  const answer = async (): Promise<Response> => {
    const ended = await waitForResponse(deps, row, { seconds: deps.config.maxHoldSeconds, signal: request.signal, subscription })
    return json(200, renderResponse(await loadForRendering(deps.objects, ended, row.request.include), row.request))
  }
  // If the row cannot be read after the status has been sent, the client gets the accepted response and polls it by id.
  return keepAliveJson(answer(), { onError: () => JSON.stringify(renderResponse(row, row.request)) })
}
