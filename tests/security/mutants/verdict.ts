import type { Mutant } from './mutant.ts'

export type Verdict = 'killed' | 'survives' | 'timed out'

/** Why a killer fails. */
export interface Failure {
  readonly message: string
  /** Nothing but a time limit ended it, which a busy machine does too. */
  readonly isTimeout: boolean
}

/** The errors of vitest for its time limits begin with it. */
const TIME_LIMIT = /^(?:\w+: )?(?:Test|Hook) timed out in \d+ms/

export const isTimeLimit = (message: string): boolean => TIME_LIMIT.test(message)

/** A time limit kills a mutant only if the mutant declares that a hang is what it causes. */
export function verdictOf({ hangs = false }: Pick<Mutant, 'hangs'>, failure: Failure | null): Verdict {
  if (failure === null) return 'survives'
  return failure.isTimeout && !hangs ? 'timed out' : 'killed'
}
