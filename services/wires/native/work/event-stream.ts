import * as z from 'zod'
import { lazySchema, type Described } from '../../../model/lazy-schema.ts'
import { ServiceError } from '../../../model/errors.ts'
import { queryInteger } from '../../../http/schemas.ts'
import type { Execution } from '../../../model/executions/execution.ts'
import type { Call } from '../../../http/route.ts'
import { streamCall } from '../../../http/stream-call.ts'
import { SSE_COMMENT, sseFrame } from '../../../http/sse.ts'
import type { ApiDeps } from '../../../http/deps.ts'
import { executionEvents } from '../../../operations/executions/execution-events.ts'
import { eventRenderer, type Reader } from './render-work.ts'
import { ExecutionEvent } from './schema.ts'

const MAX_SEQ = 999_999_999

const EventsQuery = lazySchema(() =>
  z.strictObject({ after: queryInteger(-1, MAX_SEQ, 'Number of the last event that you have.').optional() }),
)

/** The number of the last event that a reconnecting reader has; −1 without the header. */
function lastEventId(request: Request): number {
  const id = request.headers.get('last-event-id')
  if (id === null || id === '') return -1
  if (!/^\d{1,9}$/.test(id))
    throw new ServiceError(
      'invalid_request',
      'Last-Event-ID is not the number of an event. Send the number of the last event that was received.',
      { param: 'Last-Event-ID' },
    )
  return Number(id)
}

/** Common parts of the routes that stream the events of an execution or a command. */
export const EVENT_STREAM = {
  headers: { 'last-event-id': 'Number of the last event that you have. `after` has precedence.' },
  query: EventsQuery,
  answers: {
    200: {
      description: '`id: N`, `event: <type>`, `data: {…, "seq": N}`; a comment every 10 s.',
      contentType: 'text/event-stream',
      schema: ExecutionEvent,
    },
  },
} as const

/** Streams the events after the last one that the client has. `find` reads the row once a stream is free, and throws ServiceError. */
export async function streamEvents(call: Call<Described<typeof EventsQuery>>, find: () => Promise<Execution>): Promise<Response> {
  const after = call.query.after ?? lastEventId(call.request)
  return streamCall(call, async () => {
    const row = await find()
    return (signal) => executionFrames(call.deps, row, { after, publicUrl: call.publicUrl, caller: call.caller, signal })
  })
}

/** The events of an execution with numbers above `after`, as SSE frames, until `done`. */
async function* executionFrames(
  deps: Pick<ApiDeps, 'table' | 'signals' | 'objects' | 'clock' | 'config'>,
  row: Execution,
  options: Reader & { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<string, void, undefined> {
  const render = eventRenderer(deps, row, options)
  for await (const event of executionEvents(deps, row, options))
    yield event === null ? SSE_COMMENT : sseFrame({ id: event.seq, event: event.type, data: await render(event) })
}
