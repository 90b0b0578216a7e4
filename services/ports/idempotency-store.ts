export interface IdempotencyRecord {
  readonly bodyHash: string
  readonly resultId: string
  readonly expiresAt: number
}

export interface IdempotencyStore {
  /** Stores the record unless an unexpired one exists; returns the valid record and whether it is new. */
  claim(
    tenant: string,
    claim: { readonly scope: string; readonly key: string; readonly record: IdempotencyRecord; readonly now: number },
  ): Promise<{ readonly record: IdempotencyRecord; readonly isNew: boolean }>
  /** Stores the record in place of any earlier one. */
  remember(tenant: string, entry: { readonly scope: string; readonly key: string; readonly record: IdempotencyRecord }): Promise<void>
}
