import { ServiceError } from '../../core/errors.ts'

/** Results that this process holds in memory to answer calls. */
export interface ResultBudget {
  readonly inFlight: number
  /**
   * Does work that holds `bytes` of a result. Throws ServiceError `too_many_results` when the process holds too much already; one result is
   * always admitted, whatever its size.
   */
  hold<T>(bytes: number, work: () => Promise<T>): Promise<T>
}

export function createResultBudget(maxBytes: number): ResultBudget {
  let inFlight = 0
  return {
    get inFlight() {
      return inFlight
    },
    async hold(bytes, work) {
      if (inFlight > 0 && inFlight + bytes > maxBytes)
        throw new ServiceError(
          'too_many_results',
          'This server is answering as many large results as its memory allows. The result is stored: read it again in a moment.',
        )
      inFlight += bytes
      try {
        return await work()
      } finally {
        inFlight -= bytes
      }
    },
  }
}
