import { executionRow } from './rows.ts'
import { startStorage } from './start-storage.ts'

/** Writes rows and objects to a data folder and prints each acknowledged id until it is killed. */
const [dataDir = ''] = process.argv.slice(2)
const storage = await startStorage(dataDir)
for (let index = 0; ; index++) {
  const row = executionRow({ tenant: 'tnt_1', id: `exec_child${index}` })
  await storage.table.executions.create(row)
  await storage.objects.put(`tenants/tnt_1/child/files/${index}`, Buffer.alloc(20_000, index), { contentType: 'text/plain' })
  process.stdout.write(`${index}\n`)
}
