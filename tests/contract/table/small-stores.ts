import { describe, expect, it } from 'vitest'
import { newId } from '../../../services/model/ids.ts'
import type { Link } from '../../../services/model/links/link.ts'
import { NETWORK_LOG, type NetworkEntry } from '../../../services/model/network/network-log.ts'
import type { Table } from '../../../services/ports/table.ts'
import { apiKeyRow } from '../../../services/model/tenants/api-keys.ts'
import type { ApiKey, Tenant } from '../../../services/model/tenants/tenant.ts'
import { T0 } from '../../support/rows.ts'

const newTenant = (): Tenant => ({ v: 1, id: newId('tenant'), name: 'Acme', createdAt: T0 })
const newHash = (): string => newId('key').padEnd(64, '0')
const newLink = (): Link => ({
  v: 1,
  id: newId('link'),
  tenant: newId('tenant'),
  tokenHash: newHash(),
  containerId: newId('container'),
  fileId: newId('containerFile'),
  target: { objectKey: 'tenants/t/c/files/x', filename: 'a.csv', mime: 'text/csv', bytes: 3 },
  createdAt: T0,
  expiresAt: T0 + 1000,
  revokedAt: null,
})

export function smallStoresContract(table: () => Table): void {
  describe('locks', () => {
    it('have one holder until their time is over', async () => {
      const name = newId('worker')
      const attempts = await Promise.all([1, 2, 3, 4].map(() => table().locks.acquire(name, T0, T0 + 100)))
      expect(attempts.filter(Boolean)).toHaveLength(1)
      expect(await table().locks.acquire(name, T0 + 99, T0 + 199)).toBe(false)
      expect(await table().locks.acquire(newId('worker'), T0 + 99, T0 + 199)).toBe(true)
      expect(await table().locks.acquire(name, T0 + 100, T0 + 200)).toBe(true)
      expect(await table().locks.acquire(name, T0 + 150, T0 + 250)).toBe(false)
    })
  })

  describe('requests to the network gateway', () => {
    const request = (containerId: string, version: string): Promise<void> =>
      table().attachments.request({ tenant: 'tnt_a', containerId, sandboxId: 'sbx_a', version }, T0 + 1_000)

    it('are listed until they are removed, and the latest one replaces the others', async () => {
      const [one, other] = [newId('container'), newId('container')]
      await request(one, 'a')
      await request(one, 'b')
      await request(other, 'a')
      const listed = (await table().attachments.list()).filter(({ containerId }) => [one, other].includes(containerId))
      const row = { tenant: 'tnt_a', sandboxId: 'sbx_a', served: null, problem: null }
      expect(listed.toSorted((a, b) => (a.version < b.version ? -1 : 1))).toEqual([
        { ...row, containerId: other, version: 'a' },
        { ...row, containerId: one, version: 'b' },
      ])
      await table().attachments.remove(one)
      await table().attachments.remove(one)
      expect(await table().attachments.get(one)).toBeNull()
      expect(await table().attachments.get(other)).toMatchObject({ version: 'a' })
    })

    it('are answered only while no later one replaced them', async () => {
      const id = newId('container')
      await request(id, 'a')
      expect(await table().attachments.settle(id, { version: 'a', problem: 'It is closed.' })).toBe(true)
      expect(await table().attachments.get(id)).toMatchObject({ served: 'a', problem: 'It is closed.' })
      expect(await table().attachments.settle(id, { version: 'a', problem: null })).toBe(true)
      expect(await table().attachments.get(id)).toMatchObject({ served: 'a', problem: null })
      await request(id, 'b')
      expect(await table().attachments.get(id)).toMatchObject({ version: 'b', served: null })
      expect(await table().attachments.settle(id, { version: 'a', problem: null })).toBe(false)
      expect(await table().attachments.settle(newId('container'), { version: 'a', problem: null })).toBe(false)
    })

    it('have one gateway at a time', async () => {
      const { attachments } = table()
      const now = T0 + 1_000_000
      const lead = (holder: string, at: number, expiresAt: number): Promise<boolean> =>
        attachments.lead({ holder, expiresAt, sealingKey: holder === 'a' ? 'key' : null }, at)
      expect(await lead('a', now, now + 100)).toBe(true)
      expect(await lead('b', now + 99, now + 200)).toBe(false)
      expect(await lead('a', now + 99, now + 150)).toBe(true)
      expect(await attachments.leader()).toEqual({ holder: 'a', expiresAt: now + 150, sealingKey: 'key' })
      expect(await lead('b', now + 150, 0)).toBe(true)
      expect(await attachments.leader()).toEqual({ holder: 'b', expiresAt: 0, sealingKey: null })
    })
  })

  describe('network log', () => {
    const entriesOf = (count: number): NetworkEntry[] =>
      Array.from({ length: count }, (_, n) => ({
        ...{ at: T0 + n, host: 'a.example.com', method: 'GET', path: `/${n}`, status: 200, bytesUp: 1, bytesDown: 1 },
        ...{ decision: 'allowed' as const, reason: null, secret: null },
      }))
    const { perBatch } = NETWORK_LOG

    it('keeps the order of entries that are appended behind a known position', async () => {
      const of = { tenant: newId('tenant'), containerId: newId('container') }
      const { networkLog } = table()
      const first = await networkLog.append(of, entriesOf(perBatch))
      expect(await networkLog.append(of, entriesOf(40), first + perBatch - 1)).toBe(first + perBatch)
      expect(await networkLog.append(of, entriesOf(2), first + perBatch + 39)).toBe(first + perBatch + 40)
      const { rows } = await networkLog.list(of, { after: null, limit: 1_000, order: 'asc' })
      expect(rows.map(({ entry }) => entry)).toEqual([perBatch, 40, 2].flatMap(entriesOf))
    })

    it('keeps what another writer appended behind the position', async () => {
      const of = { tenant: newId('tenant'), containerId: newId('container') }
      const { networkLog } = table()
      const first = await networkLog.append(of, entriesOf(perBatch))
      const second = await networkLog.append(of, entriesOf(perBatch))
      expect(await networkLog.append(of, entriesOf(perBatch), first + perBatch - 1)).toBe(second + perBatch)
      const { rows } = await networkLog.list(of, { after: null, limit: 1_000, order: 'asc' })
      expect(rows).toHaveLength(3 * perBatch)
    })
  })

  describe('counters', () => {
    it('give each window its maximum, also to callers at the same moment, and never go back to a window', async () => {
      const [tenant, name] = [newId('tenant'), 'requests']
      const count = (window: number, max = 3): Promise<boolean> => table().sharedRows.count(tenant, name, { window, max })
      const counted = async (window: number): Promise<number> =>
        (await Promise.all(Array.from({ length: 8 }, () => count(window)))).filter(Boolean).length
      expect(await counted(1)).toBe(3)
      expect(await counted(2)).toBe(3)
      expect(await count(1)).toBe(false)
      expect(await count(2, 4)).toBe(true)
      // A process whose clock is behind counts in the same window, and a clock that was set back does not lock the tenant out.
      expect(await count(1, 4)).toBe(false)
      expect(await count(-1_000)).toBe(true)
      expect(await table().sharedRows.count(newId('tenant'), name, { window: 1, max: 1 })).toBe(true)
    })
  })

  describe('tenants and keys', () => {
    it('are returned as written, and a second creation changes nothing', async () => {
      const tenant = newTenant()
      await table().tenants.create(tenant)
      await table().tenants.create({ ...tenant, name: 'Mallory' })
      expect(await table().tenants.get(tenant.id)).toEqual(tenant)
      expect(await table().tenants.list()).toContainEqual(tenant)
      expect(await table().tenants.get('tnt_none')).toBeNull()
    })

    it('keep the last policy', async () => {
      const tenant = newTenant()
      await table().tenants.create(tenant)
      await table().tenants.setPolicy(tenant.id, { linkDays: 3 })
      expect(await table().tenants.setPolicy(tenant.id, { toolsOff: ['web_search'] })).toEqual({
        ...tenant,
        policy: { toolsOff: ['web_search'] },
      })
      expect(await table().tenants.get(tenant.id)).toEqual({ ...tenant, policy: { toolsOff: ['web_search'] } })
      expect(await table().tenants.setPolicy('tnt_none', {})).toBeNull()
    })

    it('export and remove all rows of one tenant, with its keys and links', async () => {
      const [tenant, other] = [newTenant(), newTenant()]
      const link = { ...newLink(), tenant: tenant.id }
      const key = apiKeyRow(newHash(), { tenant: tenant.id }, T0)
      for (const one of [tenant, other]) await table().tenants.create(one)
      await table().links.put(link)
      await table().tenants.putKey(key)
      const kinds = async (id: string): Promise<readonly string[]> => {
        const found: string[] = []
        for await (const row of table().tenantRows.export(id)) found.push(row.kind)
        return found.toSorted()
      }
      expect(await kinds(tenant.id)).toEqual(['link', 'tenant'])
      expect(await table().tenants.beginDeletion(tenant.id, T0)).toMatchObject({ deletion: { requestedAt: T0, completedAt: null } })
      expect(await table().tenants.beginDeletion(tenant.id, T0 + 1)).toMatchObject({ deletion: { requestedAt: T0 } })
      expect(await table().tenantRows.remove(tenant.id, null, () => false)).toEqual({ count: 2, cursor: null })
      expect(await kinds(tenant.id)).toEqual(['tenant'])
      expect(await table().links.findByToken(link.tokenHash)).toBeNull()
      expect(await table().tenants.findKey(key.hash)).toBeNull()
      expect(await kinds(other.id)).toEqual(['tenant'])
      expect(await table().tenantRows.remove(tenant.id, null, () => false)).toEqual({ count: 0, cursor: null })
    })

    it('are removed page by page, from where an earlier call ended', async () => {
      const tenant = newTenant()
      await table().tenants.create(tenant)
      // More than a page: of DynamoDB 1 MB, of SQLite 200 rows.
      await Promise.all(Array.from({ length: 1_100 }, () => table().links.put({ ...newLink(), tenant: tenant.id })))
      const text = 'x'.repeat(300_000)
      for (const id of Array.from({ length: 4 }, () => newId('execution')))
        await table().events.append(
          { kind: 'execution', tenant: tenant.id, id },
          { firstSeq: 0, events: [{ seq: 0, at: T0, type: 'stdout', cell: 0, text }], fence: 1, sourceSeq: null },
        )
      const counts: number[] = []
      let cursor: string | null = null
      do {
        const removed = await table().tenantRows.remove(tenant.id, cursor, () => true)
        counts.push(removed.count)
        cursor = removed.cursor
      } while (cursor !== null)
      expect(counts.length).toBeGreaterThan(1)
      expect(Math.max(...counts)).toBeLessThan(1_104)
      expect(counts.reduce((sum, count) => sum + count)).toBe(1_104)
      expect(await table().tenantRows.remove(tenant.id, null, () => false)).toEqual({ count: 0, cursor: null })
    })

    it('find a key by its hash alone, even if revoked', async () => {
      const key = apiKeyRow(newHash(), { tenant: newId('tenant') }, T0)
      await table().tenants.putKey(key)
      expect(await table().tenants.findKey(key.hash)).toEqual(key)
      await table().tenants.putKey({ ...key, subject: 'user-1', revokedAt: T0 + 1 })
      expect(await table().tenants.findKey(key.hash)).toEqual({ ...key, subject: 'user-1', revokedAt: T0 + 1 })
      expect(await table().tenants.findKey(newHash())).toBeNull()
    })

    it('list every key and revoke one by its id, once', async () => {
      const keys = [1, 2].map((at) => apiKeyRow(newHash(), { tenant: newId('tenant') }, T0 + at))
      const [first, second] = keys as [ApiKey, ApiKey]
      for (const key of keys) await table().tenants.putKey(key)
      expect(await table().tenants.revokeKey(first.id, T0 + 5)).toEqual({ ...first, revokedAt: T0 + 5 })
      expect(await table().tenants.revokeKey(first.id, T0 + 6)).toEqual({ ...first, revokedAt: T0 + 5 })
      expect(await table().tenants.revokeKey('key_none', T0)).toBeNull()
      const ids = new Set(keys.map(({ id }) => id))
      expect((await table().tenants.listKeys()).filter(({ id }) => ids.has(id))).toEqual([{ ...first, revokedAt: T0 + 5 }, second])
    })
  })

  describe('idempotency', () => {
    const record = (resultId: string, expiresAt = T0 + 1000) => ({ bodyHash: 'hash', resultId, expiresAt })

    it('has one owner per key and returns its record to the others', async () => {
      const tenant = newId('tenant')
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          table().idempotency.claim(tenant, { scope: 'executions', key: 'key-1', record: record(`exec_${index}`), now: T0 }),
        ),
      )
      const [owner] = answers.filter((answer) => answer.isNew)
      expect(answers.filter((answer) => answer.isNew)).toHaveLength(1)
      expect(answers.every((answer) => answer.record.resultId === owner?.record.resultId)).toBe(true)
    })

    it('separates tenants, scopes and unusual keys', async () => {
      const tenant = newId('tenant')
      const keys = [
        ['a', 'b'],
        ['a', 'b#'],
        ['a#', 'b'],
        ['ab', ''],
        ['', 'ab'],
        ['a', '☃'.repeat(2000)],
      ] as const
      for (const [scope, key] of keys)
        expect(await table().idempotency.claim(tenant, { scope, key, record: record('exec_1'), now: T0 })).toMatchObject({ isNew: true })
      expect(await table().idempotency.claim(newId('tenant'), { scope: 'a', key: 'b', record: record('exec_2'), now: T0 })).toMatchObject({
        isNew: true,
      })
    })

    it('ignores a record from the moment it expires', async () => {
      const tenant = newId('tenant')
      await table().idempotency.claim(tenant, { scope: 's', key: 'k', record: record('exec_1', T0 + 10), now: T0 })
      expect(await table().idempotency.claim(tenant, { scope: 's', key: 'k', record: record('exec_2'), now: T0 + 9 })).toEqual({
        record: record('exec_1', T0 + 10),
        isNew: false,
      })
      expect(await table().idempotency.claim(tenant, { scope: 's', key: 'k', record: record('exec_2', T0 + 20), now: T0 + 10 })).toEqual({
        record: record('exec_2', T0 + 20),
        isNew: true,
      })
    })
  })

  describe('links', () => {
    it('are found by the hash of their token', async () => {
      const link = newLink()
      await table().links.put(link)
      expect(await table().links.findByToken(link.tokenHash)).toEqual(link)
      expect(await table().links.findByToken(newHash())).toBeNull()
    })

    it('are found by their id and by their file', async () => {
      const first = newLink()
      const second = { ...newLink(), tenant: first.tenant, fileId: first.fileId, createdAt: T0 + 1 }
      const output = { ...newLink(), tenant: first.tenant, fileId: null }
      for (const link of [second, first, output]) await table().links.put(link)
      expect(await table().links.get(first.tenant, first.id)).toEqual(first)
      expect(await table().links.get(newId('tenant'), first.id)).toBeNull()
      expect(await table().links.ofFile(first.tenant, first.fileId ?? '')).toEqual([first, second])
      expect(await table().links.ofFile(newId('tenant'), first.fileId ?? '')).toEqual([])
    })

    it('are revoked once, by id and by their tenant only', async () => {
      const link = newLink()
      await table().links.put(link)
      expect(await table().links.revoke(newId('tenant'), link.id, T0)).toBeNull()
      expect(await table().links.revoke(link.tenant, 'link_none', T0)).toBeNull()
      expect(await table().links.revoke(link.tenant, link.id, T0 + 1)).toEqual({ ...link, revokedAt: T0 + 1 })
      expect(await table().links.revoke(link.tenant, link.id, T0 + 2)).toEqual({ ...link, revokedAt: T0 + 1 })
      expect(await table().links.findByToken(link.tokenHash)).toEqual({ ...link, revokedAt: T0 + 1 })
    })
  })
}
