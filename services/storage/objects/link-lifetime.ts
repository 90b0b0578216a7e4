import { LIMITS } from '../../core/limits.ts'

/** Whole seconds. Throws unless they are within the maximum life of a presigned link. */
export function linkLifetime(seconds: number): number {
  if (!(seconds >= 1 && seconds <= LIMITS.presignedSeconds))
    throw new Error(`A presigned link lives between 1 and ${LIMITS.presignedSeconds} seconds, not ${seconds}.`)
  return Math.floor(seconds)
}
