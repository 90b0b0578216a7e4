import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { createTable } from '../../services/storage/rows/table.ts'
import { openSqlite, type SqliteStore } from '../../services/storage/sqlite/open-sqlite.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'
import { tableContract } from './table.ts'

let folder: string
let store: SqliteStore
let storage: Storage
let table: ReturnType<typeof createTable>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-test-'))
  store = await openSqlite(join(folder, 'rows.sqlite'), { isDurable: true })
  storage = await startStorage()
  table = createTable(store.items, storage.objects)
})
afterAll(async () => {
  await store.close()
  await storage.stop()
  await rm(folder, { recursive: true })
})

tableContract('SQLite', () => table)
