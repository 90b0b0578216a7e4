import type { Page, PageRequest } from '../../core/ports/page.ts'

/**
 * A page of a list that is held whole, oldest first. A row that is shown no longer still says where a page begins; an unknown cursor gives
 * an empty page, as in every other list.
 */
export function pageOfList<Row extends { readonly id: string }>(
  oldestFirst: readonly Row[],
  { after, limit, order }: PageRequest,
  isShown: (row: Row) => boolean = () => true,
): Page<Row> {
  const sorted = order === 'desc' ? oldestFirst.toReversed() : oldestFirst
  const at = after === null ? -1 : sorted.findIndex((row) => row.id === after)
  const start = after !== null && at === -1 ? sorted.length : at + 1
  const shown = sorted.slice(start).filter(isShown)
  return { rows: shown.slice(0, limit), hasMore: limit < shown.length }
}
