import { ServiceError } from '../../core/errors.ts'

/** Event streams that are open in this process. */
export interface StreamSlots {
  readonly open: number
  /**
   * Takes a place and answers what gives it back, once however often it is called. Throws ServiceError `too_many_streams`: a refused caller
   * has changed nothing, and the work that it wanted to follow continues.
   */
  take(): () => void
}

export function createStreamSlots(most: number): StreamSlots {
  let open = 0
  return {
    get open() {
      return open
    },
    take: () => {
      if (open >= most)
        throw new ServiceError(
          'too_many_streams',
          `This server follows ${most} event streams already. Try again in a moment, or ask for the result with ?wait=.`,
        )
      open++
      let isTaken = true
      return () => {
        if (isTaken) open--
        isTaken = false
      }
    },
  }
}
