/** A job of which every step fails for this long ends as a dead letter, milliseconds. Outages of a store or the table are usually shorter. */
const GIVE_UP_AFTER_MS = 300_000
/** The delay before the next retry, seconds. */
const RETRY_SECONDS = { min: 1, max: 30 } as const

/** What to do after a step failed at `now`, when every step since `failingSince` failed (epoch ms). Each delay equals the sum of all delays before it. */
export function backOffAfterFailure(
  failingSince: number,
  now: number,
): { readonly retriesExhausted: boolean; readonly retryInSeconds: number } {
  const failingMs = now - failingSince
  const retryInSeconds = Math.min(RETRY_SECONDS.max, Math.max(RETRY_SECONDS.min, Math.round(failingMs / 1000)))
  return { retriesExhausted: failingMs > GIVE_UP_AFTER_MS, retryInSeconds }
}
