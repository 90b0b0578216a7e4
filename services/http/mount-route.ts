import type { Context, Hono } from 'hono'
import { ServiceError } from '../model/errors.ts'
import { LIMITS } from '../model/limits.ts'
import type { Caller } from '../model/tenants/tenant.ts'
import type { ApiDeps } from './deps.ts'
import type { ApiHono } from './middleware/wide-event.ts'
import { requireScope } from '../operations/access.ts'
import { AnswerBudget } from './answer-budget.ts'
import type { Authenticate } from './authenticate.ts'
import { hideLinks } from './hide-links.ts'
import { addressOwner, connectionOf, Exchange } from './exchange.ts'
import { checkRequestRate } from '../operations/tenancy/check-limits.ts'
import { lazySchema } from '../model/lazy-schema.ts'
import { workFor } from '../model/trace.ts'
import { turnOf } from './middleware/take-turn.ts'
import { parseJson } from './parse-json.ts'
import { publicUrlOf } from './public-url.ts'
import { mediaType, readBody, refuseAnnounced, refuseEncoded } from './read-body.ts'
import type { AnyRoute, Call } from './route.ts'
import { parseQuery, validate } from './validate.ts'

const NO_CALLER: Caller = { tenant: '', subject: null, keyId: '', scopes: [] }
const NO_BYTES = new Uint8Array()

/** `/v1/containers/{container_id}` as Hono writes it; `{+path}` is the whole rest of a path. */
export const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1').replaceAll(/\{\+(\w+)\}/g, ':$1{.+}')

/** The checks of Cellblock's own credentials. */
export interface Authenticators {
  readonly byKey: Authenticate
  /** By a key, or by the session of the page where there is one. */
  readonly bySession: Authenticate
}

/** Serves a route. Checks come in this order: credentials, scope, query, media type, size, JSON, schema. */
export function mountRoute(
  app: Hono<ApiHono>,
  { deps, authenticators }: { readonly deps: ApiDeps; readonly authenticators: Authenticators },
  route: AnyRoute,
): void {
  const serve = serveRoute(deps, authenticatorOf(route, deps, authenticators), route)
  app.on(route.method.toUpperCase(), honoPath(route.path), async (context: Context<ApiHono>) => {
    try {
      return await serve(context)
    } catch (error) {
      if (route.refuse === undefined || !(error instanceof ServiceError)) throw error
      context.get('fields')['code'] = error.code
      return route.refuse(error)
    }
  })
}

/** The handler of a public route may still ask for a caller. */
function authenticatorOf({ auth }: AnyRoute, deps: ApiDeps, { byKey, bySession }: Authenticators): Authenticate {
  if (auth === 'key') return byKey
  if (auth === 'session' || auth === 'public') return bySession
  return (request) => auth.authenticate(request, deps, byKey)
}

function serveRoute(deps: ApiDeps, authenticate: Authenticate, route: AnyRoute): (context: Context<ApiHono>) => Promise<Response> {
  const perform = performRoute(deps, authenticate, route)
  return async (context) => {
    const env = connectionOf(context.env)
    const fields = context.get('fields')
    fields['route'] = route.operationId
    workFor(addressOwner(env))
    const caller = route.auth === 'public' ? NO_CALLER : await authenticate(context.req.raw)
    const ended = caller.tenant === '' ? undefined : env.identified?.(caller.tenant)
    try {
      if (route.auth !== 'public') {
        context.set('caller', caller)
        context.set('params', context.req.param())
        Object.assign(fields, { tenant: caller.tenant, key_id: caller.keyId })
      }
      return await perform(context, { caller, owner: caller.tenant === '' ? addressOwner(env) : caller.tenant })
    } finally {
      ended?.()
    }
  }
}

function performRoute(
  deps: ApiDeps,
  authenticate: Authenticate,
  route: AnyRoute,
): (context: Context<ApiHono>, by: { readonly caller: Caller; readonly owner: string }) => Promise<Response> {
  const handle = route.handle as (call: Call) => Promise<Response> | Response
  const querySchema = route.query && lazySchema(route.query)
  const bodySchema = route.body && lazySchema(route.body)
  return async (context, { caller, owner }) => {
    const request = context.req.raw
    const env = connectionOf(context.env)
    workFor(owner)
    await turnOf(context, deps, owner)
    if (route.auth !== 'public') {
      requireScope(caller, route.scope)
      await checkRequestRate(deps, caller.tenant)
    }
    const query = parseQuery(context.req.url)
    if (route.body === undefined && route.streamed === undefined && route.isForeign !== true) refuseAnnounced(request, LIMITS.maxJsonBytes)
    const exchange = new Exchange(deps, owner, { request, env })
    try {
      const rawBody = route.body === undefined ? NO_BYTES : await readJsonBody(request, route.maxBodyBytes)
      const answer = await handle({
        deps: { ...deps, results: new AnswerBudget(exchange.answer) },
        caller,
        authenticate: () => authenticate(request),
        request,
        param: (name) => context.req.param(name) ?? '',
        query: querySchema === undefined ? query : validate(querySchema(), query, 'query'),
        body: bodySchema === undefined ? undefined : validate(bodySchema(), parseJson(rawBody), 'body'),
        rawBody,
        publicUrl: publicUrlOf(request, deps.config),
        requestId: context.get('requestId'),
        note: (name, value) => {
          context.get('fields')[name] = value
        },
      })
      return caller.tenant === '' || caller.scopes.includes('files') ? answer : hideLinks(answer)
    } finally {
      exchange.handled()
    }
  }
}

async function readJsonBody(request: Request, maxBytes: number = LIMITS.maxJsonBytes): Promise<Uint8Array> {
  refuseEncoded(request)
  const type = mediaType(request)
  if (type !== 'application/json' && !type.endsWith('+json') && !(type === '' && isEmpty(request)))
    throw new ServiceError('unsupported_media_type', 'The body must be JSON. Send it with "Content-Type: application/json".')
  return readBody(request, announcedBytes(request) > LIMITS.maxJsonBytes ? maxBytes : LIMITS.maxJsonBytes)
}

const announcedBytes = ({ headers }: Request): number => Number(headers.get('content-length') ?? 0)

/** HTTP/1.1 announces a body by one of these headers. */
const isEmpty = ({ headers }: Request): boolean => (headers.get('content-length') ?? '0') === '0' && !headers.has('transfer-encoding')
