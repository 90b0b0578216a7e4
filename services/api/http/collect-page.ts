import type { Page, PageRequest } from '../../core/ports/page.ts'

/** Fills a page although some rows are not for this caller: reads on until it is full or the list ends. */
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
