import { createHash, timingSafeEqual } from 'node:crypto'
import { newId } from '../../model/ids.ts'
import { ServiceError } from '../../model/errors.ts'
import { errorResponse, internalErrorResponse } from '../error-response.ts'
import { ORIGIN_SECRET_HEADER } from './config.ts'

type Fetch<Rest extends unknown[]> = (request: Request, ...rest: Rest) => Response | Promise<Response>

/**
 * Accepts only requests from the distribution. The function's URL is public, and a direct caller could forge the forwarded host and bypass the
 * distribution's firewall; such a call gets 404. The secret is read once; a failed read is repeated.
 */
export function requireOrigin<Rest extends unknown[]>(fetch: Fetch<Rest>, readSecret: () => Promise<string>): Fetch<Rest> {
  let wanted: Promise<Buffer> | null = null
  return async (request, ...rest) => {
    wanted ??= readSecret().then(digest)
    let secret: Buffer
    try {
      secret = await wanted
    } catch {
      wanted = null
      return internalErrorResponse(newId('request'))
    }
    if (timingSafeEqual(digest(request.headers.get(ORIGIN_SECRET_HEADER) ?? ''), secret)) return fetch(request, ...rest)
    return errorResponse(
      new ServiceError('not_found', 'Nothing is served under this address. Use the URL of the service.'),
      newId('request'),
    )
  }
}

/** Digests have one length, so the comparison takes the same time for every guess. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
