import type { Program } from '../corpus/program.ts'
import type { Arena, Verdict } from './arena.ts'

/** Containers that programs share: few, since each costs memory and a start. */
const LANES = 2

/** Bombs fill a small sandbox as they fill a large one, in a fraction of the time. */
const SMALL = { processes: 64, disk_bytes: 64 * 1024 * 1024, inodes: 5_000 }

/**
 * Every program in its own execution, one after another in each of few containers. Answers in the order of the programs. With `isQuick` the
 * sandboxes are small, and the program that follows one that ended well is the proof that the container still works; else each has a proof of its own.
 */
export async function runPrograms(
  arena: Arena,
  programs: readonly Program[],
  onVerdict: (verdict: Verdict) => void = () => undefined,
  isQuick = false,
): Promise<readonly Verdict[]> {
  const verdicts = new Map<Program, Verdict>()
  const waiting = programs.values()
  const lane = async (): Promise<void> => {
    const container = await arena.mallory.createContainer('test', isQuick ? SMALL : undefined)
    for (const program of waiting) {
      const verdict = await arena.try(container, program, isQuick)
      verdicts.set(program, verdict)
      onVerdict(verdict)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return programs.flatMap((program) => verdicts.get(program) ?? [])
}
