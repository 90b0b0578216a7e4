import { z } from '@hono/zod-openapi'
import { ServiceError } from '../../../../core/errors.ts'
import { queryInteger } from '../../../http/schemas.ts'

const MAX_SEQ = 999_999_999

export const EventsQuery = z.object({ after: queryInteger(-1, MAX_SEQ, 'Number of the last event that you have.').optional() })

/** The number of the last event that a reconnecting reader has; −1 without the header. */
export function lastEventId(request: Request): number {
  const id = request.headers.get('last-event-id')
  if (id === null || id === '') return -1
  if (!/^\d{1,9}$/.test(id))
    throw new ServiceError('invalid_request', 'Last-Event-ID must be the number of an event.', { param: 'Last-Event-ID' })
  return Number(id)
}
