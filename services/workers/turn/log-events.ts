import type { EventPayload } from '../../model/events.ts'

/** The same for two events that say the same of one item, or of one command of it. */
export const eventKey = (type: string, data: Readonly<Record<string, unknown>>): string =>
  [type, data['output_index'], data['command_index']].map((part) => (typeof part === 'object' ? '' : String(part ?? ''))).join(':')

/** Merges waiting deltas of one item into one event. */
export function mergeDeltas(last: EventPayload, next: EventPayload): EventPayload | null {
  const { delta } = next.data
  const before = last.data['delta']
  if (last.type !== next.type || last.data['item_id'] !== next.data['item_id'] || typeof delta !== 'string' || typeof before !== 'string')
    return null
  return { type: last.type, data: { ...last.data, delta: before + delta } }
}
