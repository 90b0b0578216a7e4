import * as z from 'zod'
import { answerSchema, lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { historyUpTo } from '../../../operations/conversations/history.ts'
import { errorEnvelope } from '../../../http/error-response.ts'
import { keepAliveJson } from '../../../http/keep-alive-json.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type Call } from '../../../http/route.ts'
import { waitForResponse } from '../../../operations/turns/wait-for-response.ts'
import { failureOf, refusalOf, turnTooSlow } from '../turn-failure.ts'
import { CreateResponse } from './schema.ts'
import { prepareResponse } from './start-response.ts'
import { ServiceError } from '../../../model/errors.ts'
import { topicOf } from '../../../model/events.ts'
import { derivedId } from '../../../model/ids.ts'
import { LIMITS } from '../../../model/limits.ts'
import { acceptResponse } from '../../../operations/turns/accept-response.ts'
import { encodeSummary } from '../../../model/responses/compaction.ts'
import { inputItemId, wireItems } from '../../../model/responses/input-items.ts'
import { renderResponse } from '../../../model/responses/render-response.ts'
import { loadResponse } from '../../../operations/turns/response-blobs.ts'
import { hasResponseEnded, type ResponseRecord } from '../../../model/responses/response.ts'

type Wire = Readonly<Record<string, unknown>>

const CompactResponse = lazySchema(() =>
  CreateResponse()
    .pick({ model: true, instructions: true, previous_response_id: true })
    .extend({ input: CreateResponse().shape.input.nullish() })
    .openapi('CompactResponse'),
)
type CompactResponse = Described<typeof CompactResponse>

const CompactedResponse = answerSchema(() =>
  z
    .object({
      id: z.string().openapi({ example: 'resp_01kajv9h2s8p0ww3d4dq4cs1zt' }),
      object: z.literal('response.compaction'),
      created_at: z.int(),
      output: z.array(z.looseObject({ id: z.string(), type: z.enum(['message', 'compaction']) })),
      usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
      x_cellblock: z.looseObject({ context: z.record(z.string(), z.union([z.int(), z.boolean()])).nullable() }),
    })
    .openapi('CompactedResponse'),
)

const UNREADABLE = 'The summary could not be read. Send the request again.'
const SLOW_ADVICE = 'Send a shorter conversation.'

/** A turn whose answer is the summary; it is removed an hour later. */
export const compactResponseRoute = defineRoute({
  method: 'post',
  path: '/v1/responses/compact',
  auth: 'session',
  scope: 'run',
  operationId: 'compactResponse',
  tag: 'Responses',
  summary: 'Replace a conversation by a summary',
  description:
    "The answer's `output` is the input of the next request: the messages of the user, the developer and the system, then one item `compaction` with the model's summary of everything else.",
  body: CompactResponse,
  maxBodyBytes: LIMITS.maxTurnJsonBytes,
  creates: 'response',
  answers: { 200: { description: 'The compacted conversation.', schema: CompactedResponse } },
  errors: [
    'unsupported_value',
    'model_not_found',
    'file_not_found',
    'previous_response_not_found',
    'item_not_found',
    'too_many_results',
    'request_too_large',
    'model_error',
    'model_tokens_exhausted',
    'dollars_exhausted',
  ],
  async handle(call) {
    const { deps, requestId } = call
    const { row, isReplay } = await prepareResponse(
      { ...call, body: turnOf(call.body) },
      { purpose: 'compaction', isRefused: (found) => hasResponseEnded(found.status) && summaryOf(found) === null },
    )
    const hold = await deps.holds.take(row.tenant, 'wait')
    // Listening starts before the row exists, so its end cannot be missed.
    const subscription = deps.signals.subscribe(topicOf('response', row.id))
    if (!isReplay)
      await acceptResponse(deps, row).catch(async (error: unknown) => {
        subscription.close()
        await hold.release()
        throw error
      })
    const answer = async (): Promise<Response> => {
      const { maxHoldSeconds: seconds } = deps.config
      const ended = await waitForResponse(deps, row, { seconds, signal: call.request.signal, hold, subscription })
      if (!hasResponseEnded(ended.status)) throw turnTooSlow(seconds, SLOW_ADVICE)
      return json(200, await renderCompaction(call, await loadResponse(deps.objects, ended)))
    }
    const refused = answer().catch((error: unknown) => refusalOf(error, requestId))
    return keepAliveJson(refused, {
      onError: () => JSON.stringify(errorEnvelope({ code: 'internal_error', message: UNREADABLE, param: null }, requestId)),
    })
  },
})

function turnOf({ input, ...body }: CompactResponse): CreateResponse {
  if ((input ?? '').length === 0 && !body.previous_response_id)
    throw new ServiceError('invalid_request', 'There is nothing to compact. Send input, or previous_response_id.', { param: 'input' })
  return { ...body, input: input ?? [], store: false, tools: [] }
}

const KEPT_ROLES: readonly unknown[] = ['user', 'developer', 'system']

/** Null when the model failed or refused. */
function summaryOf({ status, items }: ResponseRecord): Extract<ResponseRecord['items'][number], { type: 'message' }> | null {
  const last = items.findLast((item) => item.type === 'message')
  return status !== 'completed' || last === undefined || last.isRefusal ? null : last
}

async function renderCompaction({ deps, caller }: Call, row: ResponseRecord): Promise<Wire> {
  const response = renderResponse(row, { include: [] })
  const failure = failureOf(response)
  if (failure !== null) throw failure
  const summary = summaryOf(row)
  if (summary === null)
    throw new ServiceError('model_error', 'The model wrote no summary of the conversation. Try again, or use another model.')
  const previous = row.previousResponseId === null ? null : await deps.table.responses.get(caller.tenant, row.previousResponseId)
  const history = previous === null ? [] : (await historyUpTo(deps, caller, previous)).items
  const input = wireItems(row.request.input, (type, index, given) => given ?? inputItemId(row.id, type, index))
  const { created_at, usage, x_cellblock: extension } = response
  return {
    id: row.id,
    object: 'response.compaction',
    created_at,
    output: [
      ...[...history, ...input].filter(({ type, role }) => type === 'message' && KEPT_ROLES.includes(role)),
      { id: derivedId('compaction', row.createdAt, row.id), type: 'compaction', encrypted_content: encodeSummary(summary.text) },
    ],
    usage,
    x_cellblock: { context: (extension as Wire)['context'] },
  }
}
