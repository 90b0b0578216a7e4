import type { ExecutionEventPayload } from '../../core/events.ts'

/** Text of one stream that arrives close together becomes one event. */
export function mergeText(last: ExecutionEventPayload, next: ExecutionEventPayload): ExecutionEventPayload | null {
  if ((last.type !== 'stdout' && last.type !== 'stderr') || next.type !== last.type || next.cell !== last.cell) return null
  return { ...last, text: last.text + next.text }
}
