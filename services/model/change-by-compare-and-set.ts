import { setTimeout as delay } from 'node:timers/promises'

/** If several writers change one row at the same time, one succeeds in each round. */
const MAX_ATTEMPTS = 40
const MAX_PAUSE_MS = 8

/**
 * Repeats an attempt to change a row under a condition until it succeeds: it reads the row, decides and writes, and answers undefined when another
 * writer was faster. The second attempt follows at once, because most attempts fail by values from a cache; later ones after random pauses. `exhausted`
 * makes the error that is thrown in the end.
 */
export async function changeByCompareAndSet<Result>(attempt: () => Promise<Result | undefined>, exhausted: () => Error): Promise<Result> {
  for (let count = 1; count <= MAX_ATTEMPTS; count++) {
    const result = await attempt()
    if (result !== undefined) return result
    if (count > 1) await delay(Math.random() * MAX_PAUSE_MS * Math.min(count, 8))
  }
  throw exhausted()
}
