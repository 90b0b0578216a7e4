import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAwsStorage } from '../../services/entries/local/storage/open-aws-storage.ts'
import type { LocalStorage } from '../../services/entries/local/storage/local-storage.ts'
import { inTrace } from '../../services/model/trace.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'

let account: AwsStorage
let storage: LocalStorage
beforeAll(async () => {
  account = await startAwsStorage()
  Object.assign(process.env, account.emulators.env)
  const { tableName, bucket, queueUrls } = account.resources
  storage = await openAwsStorage({ kind: 'aws', tableName, bucket, queueUrls, isEmulated: true })
})
afterAll(async () => {
  await storage.close()
  await account.stop()
})

it('reads a row for a tenant before most of the reads that another one has requested', async () => {
  const readFor = (tenant: string): Promise<unknown> => inTrace(null, () => storage.table.tenants.get(tenant), tenant)
  let ended = 0
  const hostile = Array.from({ length: 400 }, () => readFor('hostile').then(() => ended++))
  await readFor('other')
  expect(ended).toBeLessThan(100)
  await Promise.all(hostile)
})
