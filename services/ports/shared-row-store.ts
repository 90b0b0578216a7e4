/** A small row per tenant and name that several processes change by compare-and-set. */
export interface SharedRowStore {
  /** `revision` 0 and null when it was never written. Consistent. */
  get<Values extends object>(tenant: string, name: string): Promise<SharedRowState<Values>>
  /** Writes the values if the row still has this revision; false otherwise. At most 300 KB of JSON. */
  replace(tenant: string, name: string, next: { readonly revision: number; readonly values: object }): Promise<boolean>
}

export interface SharedRowState<Values extends object> {
  readonly revision: number
  readonly values: Values | null
}
