import type { ExecutionProgressPayload } from '../../../model/executions/events/event-types.ts'

/** Merges text of one stream that arrives at short intervals into one event. */
export function mergeText(last: ExecutionProgressPayload, next: ExecutionProgressPayload): ExecutionProgressPayload | null {
  if ((last.type !== 'stdout' && last.type !== 'stderr') || next.type !== last.type || next.cell !== last.cell) return null
  return { ...last, text: last.text + next.text }
}
