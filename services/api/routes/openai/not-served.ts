import { z } from '@hono/zod-openapi'
import { ServiceError } from '../../../core/errors.ts'
import { defineRoute } from '../../http/route.ts'

const AnyBody = z.looseObject({})

/** Calls of the OpenAI wire that would need what is not here. They say so, and what to do. */
const refused = (path: string, operationId: string, summary: string, advice: string) =>
  defineRoute({
    method: 'post',
    path,
    operationId,
    tag: 'Responses',
    summary,
    description: `Always refused with \`unsupported_value\`. ${advice}`,
    body: AnyBody,
    answers: { 200: { description: 'Never.', schema: AnyBody } },
    refusals: ['unsupported_value'],
    handle() {
      throw new ServiceError('unsupported_value', `${path} is not served here. ${advice}`)
    },
  })

export const compactResponseRoute = refused(
  '/v1/responses/compact',
  'compactResponse',
  'Compact a conversation (not served)',
  'A conversation is made to fit the window of its model by itself: go on with previous_response_id, conversation or the whole input.',
)

export const countInputTokensRoute = refused(
  '/v1/responses/input_tokens',
  'countInputTokens',
  'Count the tokens of an input (not served)',
  'Each model counts in its own way: read usage.input_tokens of a response, and x_cellblock.context for what did not fit.',
)
