import * as z from 'zod'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { conversationOf } from '../../../operations/access.ts'
import { conversationHistory, historyUpTo } from '../../../operations/conversations/history.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type Call } from '../../../http/route.ts'
import { estimateInputTokens } from '../../../operations/turns/count-tokens.ts'
import { previousOf } from '../../../operations/turns/prepare-turn.ts'
import { ownsUnstored } from './start-response.ts'
import { conversationIdOf, CreateResponse } from './schema.ts'
import { LIMITS } from '../../../model/limits.ts'

const CountInputTokens = lazySchema(() =>
  CreateResponse()
    .partial()
    .extend({ input: CreateResponse().shape.input.nullish(), model: CreateResponse().shape.model.nullish() })
    .openapi('CountInputTokens'),
)
type CountInputTokens = Described<typeof CountInputTokens>

export const countInputTokensRoute = defineRoute({
  method: 'post',
  path: '/v1/responses/input_tokens',
  auth: 'session',
  scope: 'run',
  operationId: 'countInputTokens',
  tag: 'Responses',
  summary: 'Estimate the tokens of an input',
  description:
    'An estimate from the length of the texts, because each model has its own tokenizer: `usage.input_tokens` of a response is exact. The history of `previous_response_id` or `conversation` counts as well.',
  body: CountInputTokens,
  maxBodyBytes: LIMITS.maxTurnJsonBytes,
  answers: {
    200: {
      description: 'The estimate.',
      schema: () => z.object({ object: z.literal('response.input_tokens'), input_tokens: z.int() }).openapi('InputTokens'),
    },
  },
  errors: ['previous_response_not_found', 'conversation_not_found', 'too_many_results', 'request_too_large'],
  async handle(call) {
    const { input, instructions, tools, text } = call.body
    const history = await historyOf(call)
    const sent = estimateInputTokens({ input, instructions, tools: [tools, text?.format] })
    return json(200, { object: 'response.input_tokens', input_tokens: sent + estimateInputTokens({ input: history }) })
  },
})

/** The items that the model would read before the input. */
async function historyOf(call: Call<unknown, CountInputTokens>): Promise<readonly unknown[]> {
  const { deps, caller, body } = call
  const conversationId = conversationIdOf(body)
  if (conversationId !== null) {
    const { tenant } = await conversationOf(call, conversationId, { scope: 'run', param: 'conversation' })
    return (await conversationHistory(deps, tenant, conversationId)).items
  }
  if (!body.previous_response_id) return []
  return (await historyUpTo(deps, caller, await previousOf(deps, { caller, ownsUnstored: ownsUnstored(call) }, body.previous_response_id)))
    .items
}
