import { executionRow } from './rows.ts'
import { startStorage } from './start-storage.ts'

/** A process that writes rows into a data folder and says each id that was acknowledged, also when others were not. */
const ROWS = 200
const [dataDir = ''] = process.argv.slice(2)
const storage = await startStorage(dataDir)
for (let index = 0; index < ROWS; index++) {
  const row = executionRow({ tenant: 'tnt_1', id: `exec_child${index}` })
  const isKept = await storage.table.executions.create(row).catch(() => false)
  if (isKept) process.stdout.write(`${row.id}\n`)
}
await storage.stop()
