import type { Lost } from '../../core/executions/execution.ts'

/** Losses named one by one take this much of a row at most, bytes of JSON. */
const MAX_BYTES = 24 * 1024

/** As many as fit; the rest is counted, so that nothing is lost without a word. */
export function truncateLosses(lost: readonly Lost[]): readonly Lost[] {
  let bytes = 0
  const fitting = lost.findIndex((one) => (bytes += Buffer.byteLength(JSON.stringify(one))) > MAX_BYTES)
  if (fitting === -1) return lost
  return [...lost.slice(0, fitting), { what: 'more', reason: `${lost.length - fitting} more losses of this kind are not named here.` }]
}
