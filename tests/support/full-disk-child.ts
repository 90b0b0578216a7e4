import { executionRow } from './rows.ts'
import { startStorage } from './start-storage.ts'

/** A process that writes rows into a data folder, prints each acknowledged id, and reports refused writes on standard error. */
const ROWS = 400
const [dataDir = ''] = process.argv.slice(2)
const storage = await startStorage(dataDir)
for (let index = 0; index < ROWS; index++) {
  const row = executionRow({ tenant: 'tnt_1', id: `exec_child${index}` })
  try {
    if (await storage.table.executions.create(row)) process.stdout.write(`${row.id}\n`)
  } catch (error) {
    process.stderr.write(`refused: ${String(error)}\n`)
  }
}
await storage.stop()
