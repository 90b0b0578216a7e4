import { RECONCILE_AFTER_MS } from '../../model/lease.ts'

const MAX_REPEAT_AFTER_MS = 300_000

/**
 * When a job that waits gets another message if none is handled, milliseconds: half of the time that it has waited. A lost message is replaced soon. While
 * a queue has a backlog, the messages of a waiting job grow with the logarithm of its waiting time; at a fixed interval they would lengthen the backlog.
 */
export const repeatAfterMs = (waitedMs: number): number =>
  Math.min(MAX_REPEAT_AFTER_MS, Math.max(RECONCILE_AFTER_MS, Math.round(waitedMs / 2)))
