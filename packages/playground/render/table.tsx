import type { ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { TableData } from './table-data.ts'

const ROWS_PER_PAGE = 12

interface Order {
  readonly column: number
  readonly isDescending: boolean
}

/** Rows in pages; a click on a column's name sorts by it. `foot` stands beside the number of rows. */
export function Table({ data, foot }: { readonly data: TableData; readonly foot?: ComponentChild }) {
  const [order, setOrder] = useState<Order | null>(null)
  const [page, setPage] = useState(0)
  const rows = order === null ? data.rows : data.rows.toSorted(comparing(order))
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_PER_PAGE))
  const shown = rows.slice(page * ROWS_PER_PAGE, (page + 1) * ROWS_PER_PAGE)
  const sort = (column: number): void => {
    setOrder({ column, isDescending: order?.column === column && !order.isDescending })
    setPage(0)
  }
  return (
    <div class="table-box">
      <div class="scroll" tabIndex={0} role="group" aria-label="Table">
        <table>
          <thead>
            <tr>
              {data.columns.map((name, at) => (
                <th
                  key={at}
                  scope="col"
                  class={isNumeric(data, at) ? 'number' : ''}
                  aria-sort={order?.column !== at ? 'none' : order.isDescending ? 'descending' : 'ascending'}
                >
                  <button type="button" onClick={() => sort(at)}>
                    {name}
                    <span aria-hidden="true">{order?.column !== at ? '' : order.isDescending ? ' ↓' : ' ↑'}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={i}>
                {data.columns.map((_, at) => (
                  <td key={at} class={typeof row[at] === 'number' ? 'number' : ''}>
                    {textOf(row[at])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="table-foot">
        <span>
          {rows.length < data.total
            ? `First ${rows.length} of ${data.total.toLocaleString('en')} rows`
            : `${data.total.toLocaleString('en')} ${data.total === 1 ? 'row' : 'rows'}`}
        </span>
        {foot}
        {pages > 1 && <Pager page={page} pages={pages} onPage={setPage} />}
      </div>
    </div>
  )
}

function Pager({ page, pages, onPage }: { readonly page: number; readonly pages: number; readonly onPage: (page: number) => void }) {
  return (
    <span class="pager">
      <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)} aria-label="Previous page">
        ‹
      </button>
      Page {page + 1} of {pages}
      <button type="button" disabled={page + 1 >= pages} onClick={() => onPage(page + 1)} aria-label="Next page">
        ›
      </button>
    </span>
  )
}

/** Judged by the first rows. */
const isNumeric = ({ rows }: TableData, column: number): boolean =>
  rows.slice(0, ROWS_PER_PAGE).some((row) => typeof row[column] === 'number')

/** Seven significant digits are enough to read; the file has all. */
const numberText = (value: number): string => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7))))

const textOf = (value: unknown): string =>
  typeof value === 'number'
    ? numberText(value)
    : value === null || value === undefined
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : // oxlint-disable-next-line typescript/no-base-to-string -- objects are handled above
          String(value)

const comparing =
  ({ column, isDescending }: Order) =>
  (a: readonly unknown[], b: readonly unknown[]): number => {
    const [left, right] = [a[column], b[column]]
    const sign = isDescending ? -1 : 1
    if (left === null || left === undefined) return right === null || right === undefined ? 0 : 1
    if (right === null || right === undefined) return -1
    return typeof left === 'number' && typeof right === 'number'
      ? sign * (left - right)
      : sign * textOf(left).localeCompare(textOf(right), 'en', { numeric: true })
  }
