/** Reports progress on standard error; standard output belongs to the command that runs afterwards. */
export type Progress = (line: string) => void

export const quiet: Progress = () => {}

/** A failure that the user can resolve: printed as a sentence, without a stack trace. */
export class SetupError extends Error {}

/**
 * Runs one visible step. `work` reports through its progress and returns the result. A step with nothing to do prints its line only if
 * `always` is set.
 */
export async function step<T>(
  title: string,
  always: boolean,
  work: (progress: Progress) => Promise<{ readonly found: string; readonly value: T }>,
): Promise<T> {
  const startedAt = performance.now()
  let hasWorked = false
  const { found, value } = await work((line) => {
    if (!hasWorked) console.error(`▸ ${title}`)
    hasWorked = true
    console.error(`  ${line}`)
  })
  if (hasWorked || always) console.error(`✓ ${title}: ${found} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
  return value
}
