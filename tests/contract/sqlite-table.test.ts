import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { startStorage, type Storage } from '../support/start-storage.ts'
import { tableContract } from './table.ts'

let folder: string
let storage: Storage
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cellblock-test-'))
  storage = await startStorage(folder)
})
afterAll(async () => {
  await storage.stop()
  await rm(folder, { recursive: true })
  expect(storage.faults).toEqual([])
})

tableContract('SQLite', () => storage.table)
