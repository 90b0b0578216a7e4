/** Small counters of a tenant that several processes share, each changed by compare-and-set. */
export interface QuotaStore {
  /** `revision` 0 and no values when the counter was never written. Consistent. */
  get(tenant: string, name: string): Promise<Quota>
  /** Writes the values if the revision is still `seen.revision`; false otherwise. */
  replace(tenant: string, name: string, seen: Pick<Quota, 'revision'>, values: Quota['values']): Promise<boolean>
}

export interface Quota {
  readonly revision: number
  readonly values: Readonly<Record<string, number>>
}
