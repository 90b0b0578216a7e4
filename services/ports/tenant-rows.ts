/** One stored row, as an export shows it. */
export interface ExportedRow {
  /** `container`, `execution`, `response` … */
  readonly kind: string
  readonly id: string
  /** The part of a larger object: a file of a container, a batch of events; null for the object itself. */
  readonly part: string | null
  readonly fields: Readonly<Record<string, unknown>>
}

/** All stored items of one tenant, without those that were written a moment ago. */
export interface TenantRows {
  /** Without secrets and without rows that only the service uses. */
  export(tenant: string): AsyncIterable<ExportedRow>
  /**
   * Removes every row but the tenant's and its audit rows, its API keys and links included, from `cursor` on: null for the beginning, otherwise
   * that of an earlier answer. Ends early when `isOver`, which is asked after each page.
   */
  remove(tenant: string, cursor: string | null, isOver: () => boolean): Promise<RemovedRows>
}

export interface RemovedRows {
  readonly count: number
  /** Where to continue; null at the end. */
  readonly cursor: string | null
}
