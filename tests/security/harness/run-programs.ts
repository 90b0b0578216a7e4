import type { Program } from '../../../scripts/hostile-programs/program.ts'
import type { Harness, Verdict } from './harness.ts'

/** The number of containers that the programs share. Each one costs memory and a start. */
const LANES = 2

/** A resource bomb fills a small sandbox faster than a large one, with the same result. */
const SMALL_LIMITS = { processes: 64, disk_bytes: 64 * 1024 * 1024, inodes: 5_000 }

/**
 * Runs each program in its own execution, sequentially per container. Returns the verdicts in the order of the programs. With `isQuick` the
 * sandboxes are small, and after a success the next program shows that the container still works; otherwise each program is followed by a check.
 */
export async function runPrograms(
  harness: Harness,
  programs: readonly Program[],
  onVerdict: (verdict: Verdict) => void = () => undefined,
  isQuick = false,
): Promise<readonly Verdict[]> {
  const verdicts = new Map<Program, Verdict>()
  const waiting = programs.values()
  const lane = async (): Promise<void> => {
    const container = await harness.attacker.createContainer('test', isQuick ? SMALL_LIMITS : undefined)
    for (const program of waiting) {
      const verdict = await harness.try(container, program, isQuick)
      verdicts.set(program, verdict)
      onVerdict(verdict)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return programs.flatMap((program) => verdicts.get(program) ?? [])
}
