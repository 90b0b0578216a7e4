import type { OpenAPIRegistry, RouteConfig } from '@asteasolutions/zod-to-openapi'
import * as z from 'zod'
import { ERRORS, type ErrorCode } from '../model/errors.ts'
import { ErrorBody } from './schemas.ts'
import type { AnyRoute } from './route.ts'

const EVERYWHERE: readonly ErrorCode[] = ['invalid_request', 'internal_error', 'storage_full']
const WITH_KEY: readonly ErrorCode[] = ['invalid_api_key', 'insufficient_scope', 'rate_limit_exceeded', 'too_many_results', 'not_ready']
const WITH_BODY: readonly ErrorCode[] = [
  'invalid_json',
  'request_timeout',
  'request_too_large',
  'unsupported_media_type',
  'too_many_request_bytes',
]

/** Adds a route to the OpenAPI document: parameters, bodies, answers, and each refusal under its status. */
export function documentRoute(registry: OpenAPIRegistry, route: AnyRoute): void {
  const params = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
  const bodies = {
    ...(route.body === undefined ? {} : { 'application/json': { schema: route.body() } }),
    ...(route.streamed === undefined ? {} : { [route.streamed.contentType]: { schema: route.streamed.schema() } }),
    ...(route.streamed?.json === undefined ? {} : { 'application/json': { schema: route.streamed.json() } }),
  }
  const query = route.query?.() as RouteQuery | undefined
  const headers = { ...(route.creates === undefined ? {} : IDEMPOTENCY_HEADERS), ...route.headers }
  const request: RouteConfig['request'] = {
    ...(params.length === 0
      ? {}
      : { params: z.object(Object.fromEntries(params.map((name) => [name, z.string().openapi({ description: PARAMS[name] ?? name })]))) }),
    ...(query === undefined ? {} : { query }),
    ...(Object.keys(headers).length === 0
      ? {}
      : {
          headers: z.object(
            Object.fromEntries(
              Object.entries(headers).map(([name, description]) => [name, z.string().optional().openapi({ description })]),
            ),
          ),
        }),
    ...(Object.keys(bodies).length === 0
      ? {}
      : {
          body: {
            required: route.streamed?.isOptional !== true,
            content: bodies,
            ...(route.streamed === undefined ? {} : { description: route.streamed.description }),
          },
        }),
  }
  registry.registerPath({
    method: route.method,
    path: route.path,
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    'x-scope': route.scope ?? 'public',
    security: route.auth === 'public' ? [] : [{ apiKey: [] }],
    request,
    responses: { ...answersOf(route), ...errorsOf(route) },
  })
}

type RouteQuery = z.ZodObject

const IDEMPOTENCY_HEADERS: Readonly<Record<string, string>> = {
  'idempotency-key':
    'At most 255 printable characters, remembered for a day: calls with the same key and body create one object. Without it, an automatic retry of an SDK (`x-stainless-retry-count` of 1 or more) attaches to the same call of the last ten minutes.',
}

const PARAMS: Readonly<Record<string, string>> = {
  container_id: 'Id of a container, `cntr_…`.',
  execution_id: 'Id of an execution, `exec_…`.',
  response_id: 'Id of a response, `resp_…`.',
  file_id: 'Id of a container file, `cfile_…`.',
  session_id: 'Id of a session, `cntr_…`.',
  user_file_id: 'Id of a file, `file-…`.',
  conversation_id: 'Id of a conversation, `conv_…`.',
  item_id: 'Id of an item of a conversation.',
  upload_id: 'Id of an upload, `upload_…`.',
  share_id: 'Id of a link to a conversation, `share_…`.',
  link_id: 'Id of a link, `link_…`.',
  webhook_endpoint_id: 'Id of a webhook endpoint, `whe_…`.',
  tenant_id: 'Id of a tenant, `tnt_…`.',
  plan: 'Name of a plan.',
  key_id: 'Id of an API key, `key_…`.',
  job_id: 'Id of an execution, `exec_…`, or of a response, `resp_…`.',
  model: 'Name of a model.',
  token: 'The secret part of a link.',
}

function answersOf(route: AnyRoute): RouteConfig['responses'] {
  const answers: RouteConfig['responses'] = {}
  for (const [status, answer] of Object.entries(route.answers)) {
    answers[status] = {
      description: answer.description,
      ...(answer.headers === undefined
        ? {}
        : {
            headers: Object.fromEntries(
              Object.entries(answer.headers).map(([name, description]) => [name, { description, schema: { type: 'string' as const } }]),
            ),
          }),
      ...(answer.schema === undefined
        ? {}
        : {
            content: {
              [answer.contentType ?? 'application/json']: { schema: answer.schema() },
              ...(answer.events === undefined ? {} : { 'text/event-stream': { schema: answer.events() } }),
            },
          }),
    }
  }
  return answers
}

function errorsOf(route: AnyRoute): RouteConfig['responses'] {
  const hasBody = route.body !== undefined || route.streamed !== undefined
  const codes = [
    ...EVERYWHERE,
    ...(route.auth === 'public' ? [] : WITH_KEY),
    ...(hasBody ? WITH_BODY : []),
    ...(route.creates === undefined ? [] : (['idempotency_key_reused'] as const)),
    ...(route.errors ?? []),
  ]
  const byStatus = Map.groupBy(new Set(codes), (code) => ERRORS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.map((code) => `\`${code}\``).join(', '),
        content: { 'application/json': { schema: (route.errorBody ?? ErrorBody)() } },
      },
    ]),
  )
}
