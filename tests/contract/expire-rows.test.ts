import { afterAll, beforeAll, expect, it } from 'vitest'
import { newId } from '../../services/core/ids.ts'
import { expireRows } from '../../services/local/emulators/expire-rows.ts'
import { containerRow, T0 } from '../support/rows.ts'
import { startStorage, type Storage } from '../support/start-storage.ts'

let storage: Storage
beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.stop())

it('takes away links and idempotency records whose time is over, and nothing else', async () => {
  const { table, clients, resources } = storage
  const tenant = newId('tenant')
  const container = containerRow({ tenant })
  await table.containers.create(container)
  const target = { objectKey: 'k', filename: 'a', mime: 'text/plain', bytes: 1 }
  const link = { v: 1 as const, tenant, containerId: container.id, fileId: null, target, createdAt: T0, revokedAt: null }
  const short = { ...link, id: newId('link'), tokenHash: 'a'.repeat(64), expiresAt: T0 + 1_000 }
  const long = { ...link, id: newId('link'), tokenHash: 'b'.repeat(64), expiresAt: T0 + 9_000 }
  for (const one of [short, long]) await table.links.put(one)
  await table.idempotency.claim(tenant, 's', 'k', { bodyHash: 'h', resultId: 'r', expiresAt: T0 + 1_000 }, T0)

  expect(await expireRows(clients.dynamodb, resources.tableName, T0 + 999)).toBe(0)
  // A link is two items, one by its token and one by its id.
  expect(await expireRows(clients.dynamodb, resources.tableName, T0 + 1_000)).toBe(3)
  expect(await expireRows(clients.dynamodb, resources.tableName, T0 + 1_000)).toBe(0)
  expect(await table.links.get(tenant, short.id)).toBeNull()
  expect(await table.links.get(tenant, long.id)).toEqual(long)
  expect(await table.containers.get(tenant, container.id)).toEqual(container)
})
