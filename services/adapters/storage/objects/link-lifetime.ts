import { LIMITS } from '../../../model/limits.ts'

/** Lifetime in whole seconds. Throws above the maximum lifetime of a presigned link. */
export function linkLifetime(seconds: number): number {
  if (!(seconds >= 1 && seconds <= LIMITS.presignedSeconds))
    throw new Error(`A presigned link lives between 1 and ${LIMITS.presignedSeconds} seconds, not ${seconds}.`)
  return Math.floor(seconds)
}
