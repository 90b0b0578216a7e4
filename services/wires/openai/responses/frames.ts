import type { ApiDeps } from '../../../http/deps.ts'
import { followLog } from '../../../jobs/follow-log.ts'
import { SSE_COMMENT, sseFrame } from '../../../http/sse.ts'
import { liveOutput } from '../../../operations/turns/live-output.ts'
import { topicOf, type ResponseEvent } from '../../../model/events.ts'
import { renderResponse } from '../../../model/responses/render-response.ts'
import { loadForRendering } from '../../../operations/turns/inline-images.ts'
import {
  hasResponseEnded,
  hasEventStream,
  TERMINAL_EVENTS,
  terminalEventOf,
  type ResponseRecord as ResponseRow,
} from '../../../model/responses/response.ts'
import { synthesizeEvents } from '../../../model/responses/synthesize-events.ts'

type FrameDeps = Pick<ApiDeps, 'table' | 'signals' | 'objects' | 'clock' | 'config'>
type FollowedResponse = Pick<ResponseRow, 'tenant' | 'id' | 'request'>
interface FollowOptions {
  readonly after: number
  readonly signal: AbortSignal
}

/** The events of a response with numbers above `after`, as OpenAI streams them, until the terminal one and the `[DONE]` mark. */
export async function* responseFrames(
  deps: FrameDeps,
  row: FollowedResponse,
  options: FollowOptions,
): AsyncGenerator<string, void, undefined> {
  const frame = ({ seq, type, data }: ResponseEvent): string => sseFrame({ event: type, data: { type, sequence_number: seq, ...data } })
  for await (const event of responseEvents(deps, row, options)) yield event === null ? SSE_COMMENT : frame(event)
  if (!options.signal.aborted) yield DONE_FRAME
}

/** The mark after the last event. */
export const DONE_FRAME = 'data: [DONE]\n\n'

/** The events of a response with numbers above `after`, until the terminal one. Null when no event came during a heartbeat interval. */
export function responseEvents(
  deps: FrameDeps,
  row: FollowedResponse,
  options: FollowOptions,
): AsyncGenerator<ResponseEvent | null, void, undefined> {
  return followLog<ResponseRow, ResponseEvent>({
    ...deps,
    owner: { kind: 'response', tenant: row.tenant, id: row.id },
    topic: topicOf('response', row.id),
    read: async () => {
      const current = await deps.table.responses.get(row.tenant, row.id)
      return current === null || hasEventStream(row) || !hasResponseEnded(current.status)
        ? current
        : withSynthesizedEvents(await loadForRendering(deps.objects, current, row.request.include))
    },
    hasEnded: (current) => hasResponseEnded(current.status),
    after: options.after,
    signal: options.signal,
    isLast: (event) => TERMINAL_EVENTS.includes(event.type),
    live: liveOutput(deps),
    lastOf: async (current, seq) => {
      const response = renderResponse(await loadForRendering(deps.objects, current, row.request.include), row.request)
      return { seq, at: current.completedAt ?? current.createdAt, type: terminalEventOf(current.status), data: { response } }
    },
  })
}

/** A response that has no event log. */
const withSynthesizedEvents = (row: ResponseRow): ResponseRow => ({ ...row, tailEvents: synthesizeEvents(row) })
