/** Says what is being done. Standard error, because standard output belongs to the command that runs afterwards. */
export type Progress = (line: string) => void

export const quiet: Progress = () => {}

/** A failure that its reader can act on: printed as a sentence, without a stack. */
export class SetupError extends Error {}

/**
 * Runs one visible step. `work` says what it does through its progress and answers with what is there now.
 * A step that had nothing to do prints its one line only when `always` is set.
 */
export async function step<T>(
  title: string,
  always: boolean,
  work: (progress: Progress) => Promise<{ readonly found: string; readonly value: T }>,
): Promise<T> {
  const startedAt = performance.now()
  let worked = false
  const { found, value } = await work((line) => {
    if (!worked) console.error(`▸ ${title}`)
    worked = true
    console.error(`  ${line}`)
  })
  if (worked || always) console.error(`✓ ${title}: ${found} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
  return value
}
