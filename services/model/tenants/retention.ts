export const DAY_MS = 86_400_000
/** What is kept for days is checked against the tenant's retention a day after its last use, then at the latest after this time, milliseconds. */
export const RETENTION_CHECK_MS = 7 * DAY_MS

/** The first check of a row that was used at `now`, epoch ms. No retention is shorter than a day. */
export const firstRetentionCheck = (now: number): number => now + DAY_MS

/** The check after one at `now` of a row that is kept until `end`, epoch ms. A shortened retention applies from that check on. */
export const nextRetentionCheck = (now: number, end: number): number => Math.min(end, now + RETENTION_CHECK_MS)
