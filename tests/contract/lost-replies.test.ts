import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EventBatch, EventOwner } from '../../services/model/events.ts'
import { newId } from '../../services/model/ids.ts'
import type { Table } from '../../services/ports/table.ts'
import { createStorageClients, type StorageClients } from '../../services/adapters/storage/clients.ts'
import { createDynamoTable } from '../../services/adapters/storage/dynamodb/dynamo-table.ts'
import { containerRow, executionRow, T0 } from '../support/rows.ts'
import { startAwsStorage, type AwsStorage } from '../emulators/start-aws-storage.ts'

let storage: AwsStorage
let clients: StorageClients
let table: Table
/** Loses the replies of writes. */
let toLose = 0
const WRITES: readonly (string | undefined)[] = ['PutItemCommand', 'UpdateItemCommand']

beforeAll(async () => {
  storage = await startAwsStorage()
  const { region, credentials, endpoints } = storage.emulators
  clients = createStorageClients({ region, credentials, endpoints })
  clients.dynamodb.middlewareStack.add(
    (next, context) => async (args) => {
      const answer = await next(args)
      if (!WRITES.includes(context['commandName']) || toLose === 0) return answer
      toLose -= 1
      throw Object.assign(new Error('The connection was reset'), { name: 'TimeoutError', $retryable: {} })
    },
    { step: 'deserialize', priority: 'high' },
  )
  table = createDynamoTable({ client: clients.dynamodb, tableName: storage.resources.tableName, objects: storage.objects })
})
afterAll(async () => {
  clients.close()
  await storage.stop()
})

describe.each([
  ['inline', 'x'],
  ['in an object', 'ü'.repeat(100_000)],
])('a batch of events %s whose reply was lost', (_, text) => {
  it('is accepted again from the same writer and can be read', async () => {
    const owner: EventOwner = { kind: 'execution', tenant: newId('tenant'), id: newId('execution') }
    const batch: EventBatch = { firstSeq: 1, events: [{ seq: 1, at: T0, type: 'stdout', cell: 0, text }], fence: 3, sourceSeq: 7 }
    toLose = 1
    expect(await table.events.append(owner, batch)).toBe(true)
    expect(toLose).toBe(0)
    expect(await storage.table.events.read(owner, 0, 10)).toEqual(batch.events)
    expect(await table.events.append(owner, { ...batch, fence: 4 })).toBe(false)
    expect(await storage.table.events.read(owner, 0, 10)).toEqual(batch.events)
  })
})

describe('a lease whose reply was lost', () => {
  it('is granted again to the same step and to no other', async () => {
    const row = executionRow()
    await storage.table.executions.create(row)
    const lease = { owner: 'worker/step', now: T0, expiresAt: T0 + 30_000 }
    toLose = 1
    const acquired = await table.executions.acquireLease(row, lease, { status: 'starting' })
    expect(toLose).toBe(0)
    expect(acquired).toMatchObject({ kind: 'acquired', row: { fence: 1, status: 'starting', lease: { owner: 'worker/step' } } })
    expect(await table.executions.acquireLease(row, { ...lease, owner: 'worker/other' })).toMatchObject({ kind: 'busy' })
  })
})

describe('a claimed sandbox whose reply was lost', () => {
  it('is claimed again by the same container and by no other', async () => {
    const row = containerRow()
    await storage.table.containers.create(row)
    const give = (sandboxId: string) =>
      table.containers.setSandbox(row.tenant, row.id, { generation: row.generation, sandboxId, stateLost: null, dueAt: T0 })
    toLose = 1
    expect(await give('sbx_mine')).toMatchObject({ sandboxId: 'sbx_mine', generation: row.generation + 1 })
    expect(toLose).toBe(0)
    expect(await give('sbx_other')).toBeNull()
  })
})

describe('a call that fails five times in a row', () => {
  it('is retried a sixth time, because a failure would fail its whole step', async () => {
    const row = containerRow()
    await storage.table.containers.create(row)
    toLose = 5
    await table.containers.postpone(row.tenant, row.id, T0 + 7)
    expect(toLose).toBe(0)
    expect((await storage.table.containers.get(row.tenant, row.id))?.dueAt).toBe(T0 + 7)
  })
})
