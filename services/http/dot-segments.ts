import type { IncomingMessage, ServerResponse } from 'node:http'
import { ServiceError } from '../model/errors.ts'
import { newId } from '../model/ids.ts'
import { errorResponse } from './error-response.ts'

/** A segment of one or two dots, each as it is or encoded; parsers of URLs also end a segment at a backslash. */
const DOT_SEGMENT = /(?:^|[/\\])(?:\.|%2e){1,2}(?:$|[/\\])/i

/**
 * Whether the path of a request target has a dot segment. A parser removes these, so that a rule of a proxy for a path prefix and the router of this server
 * would see different paths.
 */
export const hasDotSegments = (target: string): boolean => DOT_SEGMENT.test(target.split(/[?#]/, 1)[0] ?? '')

/** Answers a request that is refused before it is routed. */
export async function refuseDotSegments(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const error = new ServiceError('invalid_request', 'The path has a segment "." or "..". Send the path without it.')
  const answer = errorResponse(error, newId('request'))
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: 'close' })
  response.end(request.method === 'HEAD' ? '' : await answer.text())
}
