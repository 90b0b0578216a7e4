import type { Page, PageRequest } from '../../core/ports/table.ts'

/** A page of a list that is held whole, oldest first. An unknown cursor gives an empty page, as in every other list. */
export function pageOfList<Row extends { readonly id: string }>(
  oldestFirst: readonly Row[],
  { after, limit, order }: PageRequest,
): Page<Row> {
  const sorted = order === 'desc' ? oldestFirst.toReversed() : oldestFirst
  const at = after === null ? -1 : sorted.findIndex((row) => row.id === after)
  const start = after !== null && at === -1 ? sorted.length : at + 1
  return { rows: sorted.slice(start, start + limit), hasMore: start + limit < sorted.length }
}
