import type { Hono } from 'hono'
import { ServiceError } from '../../model/errors.ts'
import { isStorageFull } from '../../model/storage-full.ts'
import { errorResponse, internalErrorResponse } from '../error-response.ts'
import { ClientLeftError } from '../read-body.ts'
import type { ApiHono } from './wide-event.ts'

const STORAGE_FULL = 'The disk of this service is full, so nothing was kept. Its operator has to free space; then send the request again.'

/** nginx's status of a client that left; no client sees it. */
const CLIENT_LEFT_STATUS = 499

/** Converts every failure into an error envelope: a refusal with its message, any other failure as a 500 with the request id only. */
export function handleErrors(app: Hono<ApiHono>): void {
  app.onError((error, context) => {
    const fields = context.get('fields')
    if (error instanceof ClientLeftError) {
      fields['code'] = 'client_left'
      return new Response(null, { status: CLIENT_LEFT_STATUS })
    }
    const refusal = isStorageFull(error) ? new ServiceError('storage_full', STORAGE_FULL, { cause: error }) : error
    if (refusal instanceof ServiceError) {
      fields['code'] = refusal.code
      return errorResponse(refusal, context.get('requestId'))
    }
    // Names and messages of errors can quote keys or content; the kind of error cannot.
    fields['code'] = 'internal_error'
    fields['error'] = error.name
    fields['error_at'] = firstFrame(error)
    return internalErrorResponse(context.get('requestId'))
  })

  const served = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({
      method,
      pattern: new RegExp(
        `^${path
          .replaceAll('.', '\\.')
          .replaceAll(/:\w+\{\\\.\+\}/g, '.+')
          .replaceAll(/:\w+/g, '[^/]+')}$`,
      ),
      parameters: path.split(':').length,
    }))
  app.notFound((context) => {
    const matching = served.filter(({ pattern }) => pattern.test(context.req.path))
    // `/v1/responses/compact` is a path by itself and not the response "compact".
    const fewest = Math.min(...matching.map(({ parameters }) => parameters))
    const methods = matching.filter(({ parameters }) => parameters === fewest).map(({ method }) => method)
    // Hono answers HEAD wherever it answers GET.
    const allowed = [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
    const requestId = context.get('requestId')
    if (allowed.length === 0) {
      context.get('fields')['code'] = 'not_found'
      return errorResponse(new ServiceError('not_found', 'No route has this path. GET /openapi.json lists every route.'), requestId)
    }
    context.get('fields')['code'] = 'method_not_allowed'
    const answer = errorResponse(
      new ServiceError('method_not_allowed', `This path does not accept ${context.req.method}. Use ${allowed.join(' or ')}.`),
      requestId,
    )
    answer.headers.set('allow', allowed.join(', '))
    return answer
  })
}

/** File and line of a broken invariant, for the operator's log only. */
const firstFrame = (error: Error): string | null =>
  /\(?([^()\s]+:\d+):\d+\)?/
    .exec(error.stack?.split('\n').find((line) => line.trimStart().startsWith('at ')) ?? '')?.[1]
    ?.split('/')
    .slice(-3)
    .join('/') ?? null
