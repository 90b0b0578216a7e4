import type { Lost } from '../../model/executions/execution.ts'

/** Losses that are named take at most this much of a row, bytes of JSON. */
const MAX_BYTES = 24 * 1024

/** Names as many losses as fit and counts the rest. */
export function truncateLosses(lost: readonly Lost[]): readonly Lost[] {
  let bytes = 0
  const fitting = lost.findIndex((one) => (bytes += Buffer.byteLength(JSON.stringify(one))) > MAX_BYTES)
  if (fitting === -1) return lost
  return [...lost.slice(0, fitting), { what: 'more', reason: `${lost.length - fitting} more losses of this kind are not named here.` }]
}
