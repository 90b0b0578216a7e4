import { errorEnvelope } from '../../../http/error-response.ts'
import { keepAliveJson } from '../../../http/keep-alive-json.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { streamCall } from '../../../http/stream-call.ts'
import { waitForResponse } from '../../../operations/turns/wait-for-response.ts'
import { responseEvents } from '../responses/frames.ts'
import { prepareResponse } from '../responses/start-response.ts'
import { refusalOf, turnTooSlow } from '../turn-failure.ts'
import { chunkFrames } from './chunks.ts'
import { completionOf, renderCompletion } from './render.ts'
import { ChatCompletion, ChatCompletionChunk, CreateChatCompletion } from './schema.ts'
import { toCreateResponse } from './to-response.ts'
import { ServiceError } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'
import { topicOf } from '../../../model/events.ts'
import { acceptResponse } from '../../../operations/turns/accept-response.ts'
import { renderResponse } from '../../../model/responses/render-response.ts'
import { loadResponse } from '../../../operations/turns/response-blobs.ts'
import { hasResponseEnded } from '../../../model/responses/response.ts'

type ChatCall = Call<unknown, CreateChatCompletion>

const createChatCompletionRoute = defineRoute({
  method: 'post',
  path: '/v1/chat/completions',
  auth: 'session',
  scope: 'run',
  operationId: 'createChatCompletion',
  tag: 'Chat completions',
  summary: 'Take a chat turn, in the form of Chat Completions',
  description:
    'The same turn as `POST /v1/responses`, for clients that know only this form. Without `tools` the model may run code. The history is what `messages` contain; to keep variables and files between requests, name the `container` of the `code_interpreter` tool.',
  body: CreateChatCompletion,
  maxBodyBytes: LIMITS.maxTurnJsonBytes,
  creates: 'response',
  answers: {
    200: { description: 'The completion, or its chunks when `stream` is true.', schema: ChatCompletion, events: ChatCompletionChunk },
  },
  errors: [
    'unsupported_value',
    'model_not_found',
    'container_not_found',
    'file_not_found',
    'too_many_streams',
    'too_many_results',
    'request_too_large',
    'model_error',
    'model_tokens_exhausted',
    'dollars_exhausted',
  ],
  async handle(call) {
    const { deps, body } = call
    const { row, isReplay } = await prepare(call)
    const completion = completionOf(row, body)
    const accept = async (): Promise<void> => (isReplay ? undefined : acceptResponse(deps, row))
    if (row.request.stream)
      return streamCall(call, async () => {
        await accept()
        const options = { requestId: call.requestId, hasUsage: body.stream_options?.include_usage === true }
        return (signal) => chunkFrames(responseEvents(deps, row, { after: -1, signal }), completion, options)
      })
    const hold = await deps.holds.take(row.tenant, 'wait')
    // Listening starts before the row exists, so its end cannot be missed.
    const subscription = deps.signals.subscribe(topicOf('response', row.id))
    await accept().catch(async (error: unknown) => {
      subscription.close()
      await hold.release()
      throw error
    })
    const answer = async (): Promise<Response> => {
      const { maxHoldSeconds: seconds } = deps.config
      const ended = await waitForResponse(deps, row, { seconds, signal: call.request.signal, hold, subscription })
      if (!hasResponseEnded(ended.status)) throw turnTooSlow(seconds, SLOW_ADVICE)
      const whole = await loadResponse(deps.objects, ended)
      return json(200, renderCompletion(completion, renderResponse(whole, whole.request)))
    }
    const { requestId } = call
    const refused = answer().catch((error: unknown) => refusalOf(error, requestId))
    return keepAliveJson(refused, {
      onError: () => JSON.stringify(errorEnvelope({ code: 'internal_error', message: UNREADABLE, param: null }, requestId)),
    })
  },
})

/** The turn as the Responses wire prepares it. Its errors about the input become errors about the messages. */
async function prepare(call: ChatCall): ReturnType<typeof prepareResponse> {
  const { toolsOff: off = [] } = await call.deps.limits.policyOf(call.caller.tenant)
  const body = toCreateResponse(call.body, !off.includes('code_interpreter'))
  return prepareResponse({ ...call, body }, { hidesPictures: true, isRefused: ({ status }) => status === 'failed' }).catch(
    (error: unknown) => {
      if (!(error instanceof ServiceError) || error.param === null || !/^input\b/.test(error.param)) throw error
      throw new ServiceError(error.code, error.message, { param: 'messages', cause: error })
    },
  )
}

const SLOW_ADVICE = 'Use "stream": true, or POST /v1/responses with "background": true.'
const UNREADABLE = 'The completion could not be read. Send the request again.'

export const chatCompletionRoutes: readonly AnyRoute[] = [createChatCompletionRoute]
