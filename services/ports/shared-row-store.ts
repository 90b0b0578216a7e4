/** A small row per tenant and name that several processes change by compare-and-set. */
export interface SharedRowStore {
  /** `revision` 0 and null when it was never written. Consistent. */
  get<Values extends object>(tenant: string, name: string): Promise<SharedRowState<Values>>
  /** Adds one to the counter of this window, an increasing number; false when it has `max`. Many processes may call it at once; one whose clock is a few windows
   * behind adds to the window of the others. */
  count(tenant: string, name: string, limit: { readonly window: number; readonly max: number }): Promise<boolean>
  /** Writes the values if the row still has this revision; false otherwise. At most 300 KB of JSON. */
  replace(tenant: string, name: string, next: { readonly revision: number; readonly values: object }): Promise<boolean>
}

export interface SharedRowState<Values extends object> {
  readonly revision: number
  readonly values: Values | null
}
