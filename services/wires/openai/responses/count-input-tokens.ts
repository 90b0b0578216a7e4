import * as z from 'zod'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { conversationOf } from '../../../operations/access.ts'
import { conversationHistory, historyUpTo } from '../../../operations/conversations/history.ts'
import { json } from '../../../http/responses.ts'
import { defineRoute, type Call } from '../../../http/route.ts'
import { previousOf } from '../../../operations/turns/prepare-turn.ts'
import { ownsUnstored } from './start-response.ts'
import { conversationIdOf, CreateResponse } from './schema.ts'
import { LIMITS } from '../../../model/limits.ts'

/** UTF-8 bytes of one token on average; the chat workers use the same figure for a model whose tokenizer is unknown. */
const BYTES_PER_TOKEN = 3.6
const TOKENS_PER_IMAGE = 1_000
const TOKENS_PER_ITEM = 8

/** An estimate of the tokens of an input, because every model has another tokenizer. Images count as a fixed number, whatever their size. */
function estimateInputTokens(parts: { readonly input: unknown; readonly instructions?: unknown; readonly tools?: unknown }): number {
  const items = Array.isArray(parts.input) ? parts.input.length : 1
  return items * TOKENS_PER_ITEM + tokensOf(parts.input) + tokensOf(parts.instructions) + tokensOf(parts.tools)
}

function tokensOf(value: unknown): number {
  if (typeof value === 'string') return Math.ceil(Buffer.byteLength(value) / BYTES_PER_TOKEN)
  if (Array.isArray(value)) return value.reduce<number>((sum, part) => sum + tokensOf(part), 0)
  if (typeof value !== 'object' || value === null) return 0
  const { type } = value as { readonly type?: unknown }
  if (type === 'input_image') return TOKENS_PER_IMAGE
  return Object.entries(value).reduce((sum, [name, part]) => sum + (name === 'type' || name === 'id' ? 0 : tokensOf(part)), 0)
}

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
