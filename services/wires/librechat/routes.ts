import * as z from 'zod'
import { json } from '../../http/responses.ts'
import { defineRoute, type AnyRoute, type Call, type WireDescription } from '../../http/route.ts'
import { libreChatAuth } from './auth.ts'
import { exec } from './exec.ts'
import { librechatFileRoutes } from './file-routes.ts'
import { LibreChatError, refuse } from './errors.ts'
import { programmaticRoutes } from './programmatic/routes.ts'
import { ExecBody, ExecResult } from './schema.ts'

export const libreChatWire: WireDescription = { name: 'LibreChat', description: "LibreChat's code interpreter API." }

const execRoute = defineRoute({
  method: 'post',
  path: '/librechat/v1/exec',
  auth: libreChatAuth,
  scope: 'run',
  operationId: 'librechatExec',
  tag: 'LibreChat',
  summary: 'Run code',
  description:
    'Python, bash, JavaScript or TypeScript, in a new container with copies of the files, or in the container of `runtime_session_hint`. Failing code is an answer with its error in `stderr`.',
  headers: { 'x-codeapi-expected-profile': '`default` or `stateful`; both are offered.' },
  body: ExecBody,
  answers: {
    200: { description: 'The code ended.', schema: ExecResult },
    422: {
      description: 'An input does not exist, or the request needs a feature that this service does not have.',
      schema: LibreChatError,
    },
    504: { description: 'The code ran longer than the server can hold a call open, and was cancelled.', schema: LibreChatError },
  },
  errors: ['container_not_found', 'file_not_found', 'too_many_queued', 'concurrency_limit_reached', 'sandbox_unavailable'],
  handle: async (call: Call<unknown, ExecBody>) => {
    const profile = call.body.runtime_session_hint === undefined ? 'default' : 'stateful'
    return json(200, await exec(call), { 'x-codeapi-execution-profile': profile })
  },
})

const healthRoute = defineRoute({
  method: 'get',
  path: '/librechat/v1/health',
  auth: 'public',
  operationId: 'librechatHealth',
  tag: 'LibreChat',
  summary: 'Liveness of the wire',
  answers: { 200: { description: 'The service is running.', schema: () => z.object({ status: z.literal('ok') }) } },
  handle: () => json(200, { status: 'ok' }),
})

export const librechatRoutes: readonly AnyRoute[] = [execRoute, ...programmaticRoutes, ...librechatFileRoutes, healthRoute].map(
  (route) => ({
    ...route,
    errorBody: LibreChatError,
    refuse,
  }),
)
