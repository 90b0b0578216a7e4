import { z } from '@hono/zod-openapi'
import { ServiceError } from '../../../core/errors.ts'
import { executionOf } from '../../access.ts'
import { executionFrames } from '../../executions/execution-frames.ts'
import { defineRoute } from '../../http/route.ts'
import { streamCall } from '../../http/stream-call.ts'
import { queryInteger } from '../../wire/list.ts'

const MAX_SEQ = 999_999_999

export const executionEventsRoute = defineRoute({
  method: 'get',
  path: '/v1/executions/{execution_id}/events',
  operationId: 'streamExecutionEvents',
  tag: 'Executions',
  summary: 'Follow an execution',
  description:
    'Server-sent events, numbered from 0 without a gap: `status`, `stdout`, `stderr`, `output`, `clear`, `file`, `lost`, and `done` last. Resume with `after` or `Last-Event-ID`.',
  headers: { 'last-event-id': 'Number of the last event that you have; `after` counts before it.' },
  query: z.object({ after: queryInteger(-1, MAX_SEQ, 'Number of the last event that you have.').optional() }),
  answers: {
    200: {
      description: '`id: N`, `event: <type>`, `data: {…, "seq": N}`; a comment every 10 s.',
      contentType: 'text/event-stream',
      schema: z.string(),
    },
  },
  refusals: ['execution_not_found', 'too_many_streams'],
  async handle(call) {
    const after = call.query.after ?? lastEventId(call.request)
    return streamCall(call, async () => {
      const row = await executionOf(call, call.param('execution_id'))
      return (signal) => executionFrames(call.deps, row, { after, publicUrl: call.publicUrl, signal })
    })
  },
})

function lastEventId(request: Request): number {
  const id = request.headers.get('last-event-id')
  if (id === null || id === '') return -1
  if (!/^\d{1,9}$/.test(id))
    throw new ServiceError('invalid_request', 'Last-Event-ID must be the number of an event.', { param: 'Last-Event-ID' })
  return Number(id)
}
