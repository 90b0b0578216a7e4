import * as z from 'zod'
import { json } from '../../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call } from '../../../http/route.ts'
import { libreChatAuth } from '../auth.ts'
import { LibreChatError } from '../errors.ts'
import { cancelRequest, REQUEST_ID } from './cancel.ts'
import { runProgrammatic } from './run-program.ts'
import { CancelBody, ProgramBody, ProgramResult } from './schema.ts'

const runRoute = defineRoute({
  method: 'post',
  path: '/librechat/v1/exec/programmatic',
  auth: libreChatAuth,
  scope: 'run',
  operationId: 'librechatProgram',
  tag: 'LibreChat',
  summary: 'Run a program that calls tools of the client',
  description:
    'Each tool is a function of the program: `await name(key=value)` in Python, `name \'{"key": "value"}\'` in bash. The answer to a call without a result is `tool_call_required`; the next request brings the results, and the program runs again from its start with them. A failing program is an answer with status `error`.',
  headers: { [REQUEST_ID]: 'Identifies the request for `/exec/programmatic/cancel`.' },
  body: ProgramBody,
  answers: {
    200: { description: 'The program ended, or waits for results.', schema: ProgramResult },
    422: {
      description: 'An input does not exist, or the request needs a feature that this service does not have.',
      schema: LibreChatError,
    },
    504: { description: 'The code ran longer than the server can hold a call open, and was cancelled.', schema: LibreChatError },
  },
  errors: ['container_not_found', 'file_not_found', 'conflict', 'too_many_queued', 'concurrency_limit_reached', 'sandbox_unavailable'],
  handle: async (call: Call<unknown, ProgramBody>) => json(200, await runProgrammatic(call)),
})

const cancelRoute = defineRoute({
  method: 'post',
  path: '/librechat/v1/exec/programmatic/cancel',
  auth: libreChatAuth,
  scope: 'run',
  operationId: 'librechatCancelProgram',
  tag: 'LibreChat',
  summary: 'Cancel a request that runs a program',
  body: CancelBody,
  answers: { 200: { description: 'Whether the request was found.', schema: () => z.object({ cancelled: z.boolean() }) } },
  handle: async (call: Call<unknown, CancelBody>) => json(200, { cancelled: await cancelRequest(call) }),
})

export const programmaticRoutes: readonly AnyRoute[] = [runRoute, cancelRoute]
