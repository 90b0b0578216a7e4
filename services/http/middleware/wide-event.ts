import type { Context, MiddlewareHandler } from 'hono'
import { newId } from '../../model/ids.ts'
import { currentTraceparent, inTrace, parseTraceparent, parseXrayHeader } from '../../model/trace.ts'
import type { Caller } from '../../model/tenants/tenant.ts'
import { recordRequest } from '../record-request.ts'
import type { ApiDeps } from '../deps.ts'

export interface ApiHono {
  Variables: {
    requestId: string
    /** Set once the key was verified. */
    caller?: Caller
    /** Path parameters of the route. */
    params?: Readonly<Record<string, string>>
    /** Fields of the request's one wide event. */
    fields: Record<string, string | number | boolean | null>
  }
}

/** The version header of OpenAI's API, which its clients log. */
const OPENAI_VERSION = '2020-10-01'

/** The answer's header that names the trace and the span of the request, in the form of `traceparent`. */
export const TRACE_RESPONSE_HEADER = 'traceresponse'

/**
 * Gives every request an id, a place in a trace (the caller's `traceparent`, else AWS's `x-amzn-trace-id`, else a new one) and one event. A
 * stream is counted up to its first byte.
 */
export function wideEvent(deps: Pick<ApiDeps, 'telemetry' | 'audit' | 'clock'>): MiddlewareHandler<ApiHono> {
  const handle: MiddlewareHandler<ApiHono> = async (context, next) => {
    const startedAt = performance.now()
    const requestId = newId('request')
    const fields: Record<string, string | number | boolean | null> = {}
    context.set('requestId', requestId)
    context.set('fields', fields)
    await next()
    const { status } = context.res
    context.res.headers.set('x-request-id', requestId)
    if (context.req.path.startsWith('/v1/')) {
      context.res.headers.set('openai-version', OPENAI_VERSION)
      context.res.headers.set('openai-processing-ms', String(Math.round(performance.now() - startedAt)))
    }
    context.res.headers.set(TRACE_RESPONSE_HEADER, currentTraceparent() ?? '')
    const caller = context.get('caller')
    // A caller that a test fixture admits has no tenant.
    if (caller !== undefined && caller.tenant !== '') {
      const params = context.get('params') ?? {}
      await recordRequest(deps.audit, { caller, method: context.req.method, status, requestId, at: deps.clock.now(), fields, params })
    }
    deps.telemetry.emit({
      ...fields,
      event: 'http.request',
      outcome: status < 400 ? 'ok' : status < 500 ? 'refused' : 'failed',
      request_id: requestId,
      method: context.req.method,
      status,
      duration_ms: Math.round((performance.now() - startedAt) * 100) / 100,
    })
  }
  return (context, next) => inTrace(parentOf(context), () => handle(context, next))
}

const parentOf = ({ req }: Context<ApiHono>) =>
  parseTraceparent(req.header('traceparent')) ?? parseXrayHeader(req.header('x-amzn-trace-id'))
