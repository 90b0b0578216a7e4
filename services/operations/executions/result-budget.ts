/** Space for the answer of a call that runs code, bytes: what a wire shows to a model, with its fields. */
export const RUN_ANSWER_BYTES = 128 * 1024

/** Results that this process holds in memory to answer one call. */
export interface ResultBudget {
  /** Reserves space for the answer before a call has an effect. Throws ServiceError `too_many_results`. Later work of the call waits for space instead. */
  reserve(bytes: number): void
  /** Runs work that makes the answer of `bytes`. They count until the answer was handed to the network. Throws ServiceError `too_many_results` when there is no space for 2 s. */
  hold<T>(bytes: number, work: () => Promise<T>): Promise<T>
  /** The same for bytes that are no part of the answer, or of one frame of a stream: they count until the work has ended. */
  use<T>(bytes: number, work: () => Promise<T>): Promise<T>
}
