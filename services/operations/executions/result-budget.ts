import { ServiceError } from '../../model/errors.ts'

/** Results that this process holds in memory to answer calls. */
export interface ResultBudget {
  readonly inFlight: number
  /**
   * Runs work that holds `bytes` of a result in memory. Throws ServiceError `too_many_results` when the process already holds too much; one result is
   * always admitted.
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
          'This server holds as many large requests and results as its memory allows. Send the request again in a moment.',
          { limit: { name: 'max_result_bytes_in_flight', value: maxBytes, retryAfterSeconds: 1 } },
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
