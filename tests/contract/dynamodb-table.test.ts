import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { createStorageClients } from '../../services/adapters/storage/clients.ts'
import { createDynamoTable } from '../../services/adapters/storage/dynamodb/dynamo-table.ts'
import { newId } from '../../services/model/ids.ts'
import { tableDefinition } from '../../services/adapters/storage/dynamodb/table-definition.ts'
import { executionRow } from '../support/rows.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'
import { tableContract } from './table.ts'

let storage: AwsStorage
beforeAll(async () => void (storage = await startAwsStorage()))
afterAll(() => storage.stop())

tableContract('DynamoDB', () => storage.table)

/** A table with its own client, and the names of the commands that it sends. */
function recordedTable() {
  const sent: string[] = []
  const { region, credentials, endpoints } = storage.emulators
  const client = createStorageClients({ region, credentials, endpoints }).dynamodb
  client.middlewareStack.add(
    (next, context) => (args) => {
      sent.push(String(context['commandName']))
      return next(args)
    },
    { step: 'initialize', name: 'record' },
  )
  return { sent, table: createDynamoTable({ client, tableName: storage.resources.tableName, objects: storage.objects }) }
}

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

  it('counts a long result with the write of the end', async () => {
    const added: number[] = []
    const rows = { admit: () => Promise.resolve(), add: async (_: string, bytes: number) => void added.push(bytes) }
    const { sent, table } = recordedTable()
    const { executions } = table.metered({ objects: storage.objects, rows })
    const row = executionRow()
    await executions.create(row)
    sent.length = 0
    const tailEvents = [{ seq: 1, at: row.createdAt, type: 'stdout', cell: 0, text: 'x'.repeat(60_000) }] as const
    await executions.commit({ tenant: row.tenant, id: row.id, fence: 0 }, { status: 'succeeded', tailEvents })
    expect(sent).toEqual(['UpdateItemCommand'])
    expect(added[1]).toBeGreaterThan(60_000)
  })

  it('rejects a check when the table is missing', async () => {
    const missingTable = createDynamoTable({ client: storage.clients.dynamodb, tableName: 'nowhere', objects: storage.objects })
    await expect(missingTable.check()).rejects.toThrow()
    await expect(storage.table.check()).resolves.toBeUndefined()
  })

  it('finds the rows of a tenant by the index, and those of a tenant from before the index in the whole table', async () => {
    const { sent, table } = recordedTable()
    const client = storage.clients.dynamodb
    const read = async (id: string): Promise<readonly string[]> => {
      sent.length = 0
      const kinds: string[] = []
      for await (const { kind } of table.tenantRows.export(id)) kinds.push(kind)
      return kinds.toSorted()
    }
    const tenant = newId('tenant')
    await table.tenants.create({ v: 1, id: tenant, name: 'indexed', createdAt: 1 })
    for (let row = 0; row < 250; row++) await table.executions.create(executionRow({ tenant, id: newId('execution') }))
    await table.sharedRows.count(tenant, 'requests', { window: 1, max: 5 })
    const kinds = await read(tenant)
    expect([kinds.length, new Set(kinds)]).toEqual([251, new Set(['execution', 'tenant'])])
    expect(sent).not.toContain('ScanCommand')
    expect(sent.filter((name) => name === 'QueryCommand').length).toBeLessThanOrEqual(16)
    // The counter of requests is not exported, and is removed.
    expect(await table.tenantRows.remove(tenant, null, () => false)).toEqual({ count: 251, cursor: null })

    const former = newId('tenant')
    await table.tenants.create({ v: 1, id: former, name: 'former', createdAt: 1 })
    await table.executions.create(executionRow({ tenant: former, id: newId('execution') }))
    const Key = { pk: { S: `T#${former}#tenant#${former}` }, sk: { S: 'row' } }
    await client.send(new UpdateItemCommand({ TableName: storage.resources.tableName, Key, UpdateExpression: 'REMOVE tenantShard' }))
    expect(await read(former)).toEqual(['execution', 'tenant'])
    expect(sent).toContain('ScanCommand')
  })

  it('uses a time-to-live attribute that is not part of a row', () => {
    expect(tableDefinition.timeToLiveAttribute).toBe('ttl')
  })
})
