/** A page of a list, ordered by time of creation. `after` is an id; an unknown id yields an empty page. */
export interface PageRequest {
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly hasMore: boolean
}
