import type { Page, PageRequest } from '../model/page.ts'

/** Fills a page with rows that the caller may see; reads until the page is full or the list ends. */
export async function collectPage<Row extends { readonly id: string }>(
  request: PageRequest,
  read: (request: PageRequest) => Promise<Page<Row>>,
  isWanted: (row: Row) => boolean,
): Promise<Page<Row>> {
  const rows: Row[] = []
  let { after } = request
  for (;;) {
    const page = await read({ ...request, after })
    for (const [index, row] of page.rows.entries()) {
      if (!isWanted(row)) continue
      rows.push(row)
      if (rows.length === request.limit) return { rows, hasMore: page.hasMore || index < page.rows.length - 1 }
    }
    after = page.rows.at(-1)?.id ?? null
    if (!page.hasMore || after === null) return { rows, hasMore: false }
  }
}

/**
 * A page of a list that is in memory, oldest first. A row that is no longer visible still works as a cursor; an unknown cursor yields an empty page, as
 * in every other list.
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
