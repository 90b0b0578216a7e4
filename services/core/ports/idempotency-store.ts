export interface IdempotencyRecord {
  readonly bodyHash: string
  readonly resultId: string
  readonly expiresAt: number
}

export interface IdempotencyStore {
  /** Stores the record unless an unexpired one exists; returns the one that counts and whether it is the caller's. */
  claim(
    tenant: string,
    scope: string,
    key: string,
    record: IdempotencyRecord,
    now: number,
  ): Promise<{ readonly record: IdempotencyRecord; readonly isNew: boolean }>
}
