/** A job whose every step fails for this long is given up, milliseconds: a store or a table that is away comes back sooner. */
const GIVE_UP_AFTER_MS = 300_000
/** The pause before the next try, seconds. */
const BACK_OFF_SECONDS = { min: 1, max: 30 } as const

/** What becomes of a job after a step of it failed at `now`, when every step since `since` did (epoch ms): each pause is as long as all before it. */
export function backOffAfterFailure(since: number, now: number): { readonly retriesExhausted: boolean; readonly againInSeconds: number } {
  const failing = now - since
  const againInSeconds = Math.min(BACK_OFF_SECONDS.max, Math.max(BACK_OFF_SECONDS.min, Math.round(failing / 1000)))
  return { retriesExhausted: failing > GIVE_UP_AFTER_MS, againInSeconds }
}
