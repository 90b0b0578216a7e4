import type { Table } from '../../services/ports/table.ts'

/** The table with some of its stores replaced, also for a worker that counts what it stores. */
export const withStores = (table: Table, stores: Partial<Table>): Table => ({
  ...table,
  ...stores,
  metered: (meter) => withStores(table.metered(meter), stores),
})
