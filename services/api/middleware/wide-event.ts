import type { MiddlewareHandler } from 'hono'
import { newId } from '../../core/ids.ts'
import type { ApiDeps } from '../deps.ts'

export interface ApiHono {
  Variables: {
    requestId: string
    /** Fields of the request's one wide event. */
    fields: Record<string, string | number | boolean | null>
  }
}

/** Gives every request an id and emits one event for it. A stream is counted up to its first byte. */
export function wideEvent(deps: Pick<ApiDeps, 'telemetry'>): MiddlewareHandler<ApiHono> {
  return async (context, next) => {
    const startedAt = performance.now()
    const requestId = newId('request')
    const fields: Record<string, string | number | boolean | null> = {}
    context.set('requestId', requestId)
    context.set('fields', fields)
    await next()
    const { status } = context.res
    context.res.headers.set('x-request-id', requestId)
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
}
