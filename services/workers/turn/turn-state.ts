import type { EventPayload } from '../../model/events.ts'
import { hasEnded, type Execution } from '../../model/executions/execution.ts'
import type { ResponseRecord, ResponseRequest } from '../../model/responses/response.ts'
import type { FlushPriority } from '../../jobs/event-log-writer.ts'
import type { ResponseItem } from '../../model/responses/items/item-types.ts'

/** The fields of a response that a step changes, besides its lease and its events. */
export type TurnState = Pick<
  ResponseRecord,
  'items' | 'pending' | 'usage' | 'toolCalls' | 'consecutiveFailures' | 'containerId' | 'error' | 'incompleteReason' | 'contextCut'
> & { readonly droppedParameters: readonly string[] }

export const stateOf = (row: ResponseRecord): TurnState => ({
  items: row.items,
  pending: row.pending,
  usage: row.usage,
  toolCalls: row.toolCalls,
  consecutiveFailures: row.consecutiveFailures,
  containerId: row.containerId,
  error: row.error,
  incompleteReason: row.incompleteReason,
  contextCut: row.contextCut,
  droppedParameters: row.droppedParameters ?? [],
})

/** The pending job as this step knows it. `missing`: it was not accepted, because a worker crashed between the commit and the acceptance. */
export type JobProgress =
  | { readonly kind: 'missing' }
  | { readonly kind: 'running' }
  | { readonly kind: 'ended'; readonly execution: Execution }

export function jobProgressOf(execution: Execution | null): JobProgress {
  if (execution === null) return { kind: 'missing' }
  return hasEnded(execution.status) ? { kind: 'ended', execution } : { kind: 'running' }
}

/** The parts of a turn that an action reads. */
export interface TurnView {
  readonly row: ResponseRecord
  readonly state: TurnState
}

export interface TurnEvent {
  readonly payload: EventPayload
  readonly priority: FlushPriority
}

/** What one action changes. `Turn.apply` records it: the state, then the events, then the finished items with their events. */
export interface TurnChange {
  readonly state?: Partial<Omit<TurnState, 'items'>>
  /** Items by their `output_index`. */
  readonly items?: readonly (readonly [index: number, item: ResponseItem])[]
  readonly events?: readonly TurnEvent[]
  /** Completed items, by their `output_index`; `rendered` replaces the item in its event and may have fields that are not stored. */
  readonly finished?: readonly (readonly [index: number, item: ResponseItem, rendered?: ResponseItem])[]
  readonly job?: JobProgress
}

export type RequestedTools = Pick<ResponseRequest, 'tools' | 'purpose'>
