import { CodeOutputReader, isCodeOutput } from '../../core/executions/code-output.ts'
import type { Execution } from '../../core/executions/execution.ts'
import { hasEventStream } from '../../core/responses/response.ts'
import type { TurnDeps } from '../deps.ts'
import type { Turn } from './turn.ts'

/**
 * Writes what the pending code has printed into the log of the response, as readers may have seen it already. Only for a response that
 * somebody may follow: the others have it in their logs.
 */
export async function tellOutput(deps: TurnDeps, turn: Turn, execution: Execution | null): Promise<void> {
  const { pending, row } = turn
  const item = pending === null ? undefined : turn.items[pending.itemIndex]
  if (pending === null || item === undefined || !hasEventStream(row)) return
  const reader = new CodeOutputReader(deps.table.events, row.tenant, pending, item.id)
  const facts = await reader.next(execution)
  const told = turn.unaccounted.filter((event) => isCodeOutput(event, pending.itemIndex)).length
  for (const { type, data } of facts.slice(told)) turn.emit({ type, data }, 'paced')
}
