import * as z from 'zod'
import { boundedList } from '../../../model/bounded-schemas.ts'
import { lazySchema } from '../../../model/lazy-schema.ts'
import { keepAliveJson } from '../../../http/keep-alive-json.ts'
import { messageAccount } from '../../../http/message-account.ts'
import { pageOfList } from '../../../http/paging.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type Call, type AnyRoute } from '../../../http/route.ts'
import { queryInteger, deletedSchema, listOf, ListQuery, listSchema, pageOf } from '../../../http/schemas.ts'
import { streamCall } from '../../../http/stream-call.ts'
import { cancelResponse } from '../../../operations/turns/cancel-response.ts'
import { waitForResponse } from '../../../operations/turns/wait-for-response.ts'
import { compactResponseRoute } from './compact.ts'
import { countInputTokensRoute } from './count-input-tokens.ts'
import { responseFrames } from './frames.ts'
import { CreateResponse, ResponseBody, ResponseEvent } from './schema.ts'
import { HistoryItem } from './item-schemas.ts'
import { calledResponse, prepareResponse } from './start-response.ts'
import { ServiceError } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import { topicOf } from '../../../model/events.ts'
import { acceptResponse } from '../../../operations/turns/accept-response.ts'
import { inputItemId, wireItems } from '../../../model/responses/input-items.ts'
import { removeResponse } from '../../../operations/turns/remove-response.ts'
import { loadForRendering } from '../../../operations/turns/inline-images.ts'
import { renderResponse } from '../../../model/responses/render-response.ts'
import { loadResponse } from '../../../operations/turns/response-blobs.ts'
import type { ResponseRecord as ResponseRow } from '../../../model/responses/response.ts'

const createResponseRoute = defineRoute({
  method: 'post',
  path: '/v1/responses',
  auth: 'session',
  scope: 'run',
  operationId: 'createResponse',
  tag: 'Responses',
  summary: 'Take a chat turn',
  description:
    'Plain: the answer comes when the turn has ended. `stream`: server-sent events as it goes. `background`: the answer comes at once, with status `queued`.',
  body: CreateResponse,
  maxBodyBytes: LIMITS.maxTurnJsonBytes,
  creates: 'response',
  answers: { 200: { description: 'The response, or its events when `stream` is true.', schema: ResponseBody, events: ResponseEvent } },
  errors: [
    'unsupported_value',
    'model_not_found',
    'container_not_found',
    'file_not_found',
    'previous_response_not_found',
    'conversation_not_found',
    'item_not_found',
    'too_many_queued',
    'too_many_streams',
    'too_many_results',
    'request_too_large',
    'model_tokens_exhausted',
    'dollars_exhausted',
  ],
  async handle(call) {
    const { deps } = call
    const { row, isReplay } = await prepareResponse(call)
    if (isReplay) return answerReplay(call, row)
    if (row.request.stream) {
      return streamCall(call, async () => {
        await acceptResponse(deps, row)
        return (signal) => responseFrames(deps, row, { after: -1, signal })
      })
    }
    return answerWhenEnded(call, row)
  },
})

/** Attaches a repeated call to the response of the first one. */
async function answerReplay(call: Call, row: ResponseRow): Promise<Response> {
  const { deps, request } = call
  if (row.request.stream) return streamCall(call, async () => (signal) => responseFrames(deps, row, { after: -1, signal }))
  const hold = row.request.background ? null : await deps.holds.take(row.tenant, 'wait')
  const answer = async (): Promise<Response> => {
    const { maxHoldSeconds: seconds } = deps.config
    const seen = hold === null ? row : await waitForResponse(deps, row, { seconds, signal: request.signal, hold })
    const body = renderResponse(await loadForRendering(deps.objects, seen, row.request.include), row.request)
    return json(200, body, { 'idempotent-replayed': 'true' })
  }
  return keepAliveJson(answer(), { onError: () => JSON.stringify(renderResponse(row, row.request)) })
}

async function answerWhenEnded({ deps, request }: Call, row: ResponseRow): Promise<Response> {
  if (row.request.background) {
    await acceptResponse(deps, row)
    return json(200, renderResponse(row, row.request))
  }
  const hold = await deps.holds.take(row.tenant, 'wait')
  // Listening starts before the row exists, so its end cannot be missed.
  const subscription = deps.signals.subscribe(topicOf('response', row.id))
  await acceptResponse(deps, row).catch(async (error: unknown) => {
    subscription.close()
    await hold.release()
    throw error
  })
  const answer = async (): Promise<Response> => {
    const ended = await waitForResponse(deps, row, { seconds: deps.config.maxHoldSeconds, signal: request.signal, hold, subscription })
    return json(200, renderResponse(await loadForRendering(deps.objects, ended, row.request.include), row.request))
  }
  // If the row cannot be read after the status has been sent, the client gets the accepted response and polls it by id.
  return keepAliveJson(answer(), { onError: () => JSON.stringify(renderResponse(row, row.request)) })
}

export const GetResponseQuery = lazySchema(() =>
  z.object({
    include: z
      .union([z.string().transform((name) => [name]), boundedList(z.string(), { max: 32 })])
      .optional()
      .openapi({ type: 'array', items: { type: 'string' }, description: 'Same effect as `include[]=code_interpreter_call.outputs`.' }),
    stream: z
      .enum(['true', 'false'], 'give true or false')
      .optional()
      .openapi({ description: 'Answers with the events instead, from the start or after `starting_after`.' }),
    starting_after: queryInteger(-1, 999_999_999, 'The `sequence_number` of the last event that you have.').optional(),
  }),
)

const getResponseRoute = defineRoute({
  method: 'get',
  path: '/v1/responses/{response_id}',
  auth: 'session',
  scope: 'read',
  operationId: 'getResponse',
  tag: 'Responses',
  summary: 'Get a response, or follow its events',
  query: GetResponseQuery,
  answers: { 200: { description: 'The response, or its events when `stream` is true.', schema: ResponseBody, events: ResponseEvent } },
  errors: ['response_not_found', 'too_many_streams'],
  async handle(call) {
    const { deps, query } = call
    const row = await calledResponse(call, 'read')
    if (query.stream === 'true')
      return streamCall(call, async () => (signal) => responseFrames(deps, row, { after: query.starting_after ?? -1, signal }))
    const { include = [] } = query
    return json(200, renderResponse(await loadForRendering(deps.objects, row, include), { include }))
  },
})

/** Running code is interrupted, and killed two seconds later: the answer usually shows the end. */
const CANCEL_WAIT_SECONDS = 5

const cancelResponseRoute = defineRoute({
  method: 'post',
  path: '/v1/responses/{response_id}/cancel',
  auth: 'session',
  scope: 'run',
  operationId: 'cancelResponse',
  tag: 'Responses',
  summary: 'Cancel a background response',
  description: 'Idempotent.',
  answers: { 200: { description: 'The response as it is now.', schema: ResponseBody } },
  errors: ['response_not_found'],
  async handle(call) {
    const { deps } = call
    const found = await calledResponse(call, 'run')
    if (!found.request.background)
      throw new ServiceError(
        'invalid_request',
        'This response was not created with "background": true, so it cannot be cancelled. DELETE /v1/responses/{response_id} ends and deletes it.',
        {
          param: 'response_id',
        },
      )
    const cancelled = (await cancelResponse(deps, found.tenant, found.id)) ?? found
    const row = await waitForResponse(deps, cancelled, { seconds: CANCEL_WAIT_SECONDS, signal: call.request.signal })
    return json(200, renderResponse(await loadForRendering(deps.objects, row, row.request.include), row.request))
  },
})

/** A step that holds the response sees the cancellation within a second; what it wrote after the removal would never be deleted. */
const DELETE_WAIT_SECONDS = 5

const deleteResponseRoute = defineRoute({
  method: 'delete',
  path: '/v1/responses/{response_id}',
  auth: 'session',
  scope: 'run',
  operationId: 'deleteResponse',
  tag: 'Responses',
  summary: 'Delete a response',
  description: 'A response that still runs is cancelled first. Its container and files are kept.',
  answers: { 200: { description: 'The response is deleted.', schema: deletedSchema('response') } },
  errors: ['response_not_found'],
  async handle(call) {
    const { deps } = call
    const { tenant, id } = await calledResponse(call, 'run')
    const cancelled = await cancelResponse(deps, tenant, id)
    if (cancelled !== null) await waitForResponse(deps, cancelled, { seconds: DELETE_WAIT_SECONDS, signal: call.request.signal })
    await removeResponse(deps, tenant, id)
    return json(200, { id, object: 'response', deleted: true })
  },
})

const responseInputItemsRoute = defineRoute({
  method: 'get',
  path: '/v1/responses/{response_id}/input_items',
  auth: 'session',
  scope: 'read',
  operationId: 'listInputItems',
  tag: 'Responses',
  summary: 'List the input items of a response',
  query: ListQuery,
  answers: {
    200: {
      description: 'A page of items.',
      schema: listSchema(HistoryItem, 'InputItemList'),
    },
  },
  errors: ['response_not_found'],
  async handle(call) {
    const row = await loadResponse(call.deps.objects, await calledResponse(call, 'read'))
    const items = wireItems(row.request.input, (type, index, given) => given ?? inputItemId(row.id, type, index))
    const page = pageOfList(items, pageOf(call.query))
    return json(200, listOf(page.rows, page.hasMore))
  },
})

const SOCKET_ADVICE = 'Send POST /v1/responses with "stream": true.'

/** The handshake of a WebSocket. The server upgrades the connection after this route has admitted it; a function URL has no connection to upgrade. */
const responsesSocketRoute = defineRoute({
  method: 'get',
  path: '/v1/responses',
  auth: 'session',
  scope: 'run',
  operationId: 'connectResponses',
  tag: 'Responses',
  summary: 'Open a WebSocket for chat turns',
  description:
    'A WebSocket on one machine: each message `response.create` has the fields of `POST /v1/responses`, and the events come as messages. A deployment in AWS answers 426.',
  answers: { 101: { description: 'The connection is a WebSocket.' } },
  errors: ['upgrade_required', 'too_many_streams'],
  async handle(call) {
    const { deps, caller, request } = call
    const { sockets } = deps
    if (sockets === undefined) throw new ServiceError('upgrade_required', `This deployment offers no WebSocket. ${SOCKET_ADVICE}`)
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
      throw new ServiceError('upgrade_required', `This address takes a WebSocket handshake, or POST. ${SOCKET_ADVICE}`)
    const messages = messageAccount(call, { owner: caller.tenant, route: 'connectResponses' })
    sockets.admit(request, { caller, max: (await deps.limits.of(caller.tenant)).openStreams, messages })
    return json(200, {})
  },
})

export const responseRoutes: readonly AnyRoute[] = [
  cancelResponseRoute,
  createResponseRoute,
  deleteResponseRoute,
  getResponseRoute,
  compactResponseRoute,
  countInputTokensRoute,
  responseInputItemsRoute,
  responsesSocketRoute,
]
