import type { ApiDeps } from '../../../http/deps.ts'
import { executionEvents } from '../../../operations/executions/execution-events.ts'
import { SSE_COMMENT, sseFrame } from '../../../http/sse.ts'
import { eventRenderer, type Reader } from './serialize.ts'
import type { Execution } from '../../../model/executions/execution.ts'

/** The events of an execution with numbers above `after`, as SSE frames, until `done`. */
export async function* executionFrames(
  deps: Pick<ApiDeps, 'table' | 'signals' | 'objects' | 'clock' | 'config'>,
  row: Execution,
  options: Reader & { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<string, void, undefined> {
  const render = eventRenderer(deps, row, options)
  for await (const event of executionEvents(deps, row, options))
    yield event === null ? SSE_COMMENT : sseFrame({ id: event.seq, event: event.type, data: await render(event) })
}
