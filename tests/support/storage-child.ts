import { executionRow } from './rows.ts'
import { startStorage } from './start-storage.ts'

/** A process that keeps on writing rows and objects into a data folder and says each id once it was acknowledged, until it is killed. */
const [dataDir = ''] = process.argv.slice(2)
const storage = await startStorage(dataDir)
for (let index = 0; ; index++) {
  const row = executionRow({ tenant: 'tnt_1', id: `exec_child${index}` })
  await storage.table.executions.create(row)
  await storage.objects.put(`tenants/tnt_1/child/files/${index}`, Buffer.alloc(20_000, index), { contentType: 'text/plain' })
  process.stdout.write(`${index}\n`)
}
