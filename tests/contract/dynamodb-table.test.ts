import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tableDefinition } from '../../services/adapters/storage/dynamodb/table-definition.ts'
import { executionRow } from '../support/rows.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'
import { tableContract } from './table.ts'

let storage: AwsStorage
beforeAll(async () => void (storage = await startAwsStorage()))
afterAll(() => storage.stop())

tableContract('DynamoDB', () => storage.table)

describe('DynamoDB beyond the port', () => {
  it('refuses a row that is too large for DynamoDB, and says what to do', async () => {
    const row = executionRow({ source: { kind: 'code', code: 'x'.repeat(390 * 1024) } })
    await expect(storage.table.executions.create(row)).rejects.toThrow('Store its largest field as an object')
    expect(await storage.table.executions.get(row.tenant, row.id)).toBeNull()
  })

  it('refuses a patch that makes the row too large, and keeps the row', async () => {
    const row = executionRow({ source: { kind: 'code', code: 'x'.repeat(300 * 1024) } })
    await storage.table.executions.create(row)
    const patch = { metadata: { note: 'y'.repeat(200 * 1024) } }
    await expect(storage.table.executions.commit({ tenant: row.tenant, id: row.id, fence: 0 }, patch)).rejects.toThrow(
      'Store its largest field as an object',
    )
    expect(await storage.table.executions.get(row.tenant, row.id)).toEqual(row)
  })

  it('rejects a check when the table is missing', async () => {
    const { createDynamoTable } = await import('../../services/adapters/storage/dynamodb/dynamo-table.ts')
    const missingTable = createDynamoTable({ client: storage.clients.dynamodb, tableName: 'nowhere', objects: storage.objects })
    await expect(missingTable.check()).rejects.toThrow()
    await expect(storage.table.check()).resolves.toBeUndefined()
  })

  it('uses a time-to-live attribute that is not part of a row', () => {
    expect(tableDefinition.timeToLiveAttribute).toBe('ttl')
  })
})
