import { expect, it } from 'vitest'
import { derivedId, newId } from '../../../services/model/ids.ts'
import { sweepTenant } from '../../../services/workers/reconcile/sweep-tenant.ts'
import { containerRow, responseRow } from '../../support/rows.ts'
import { ReconcileFixture } from './reconcile-fixture.ts'

const fixture = new ReconcileFixture()

/** One pass whose time is over after its first step. */
async function pass(tenant: string): Promise<void> {
  const due = (await fixture.storage.table.due(fixture.now + 60_000, 100)).find((row) => row.kind === 'tenant' && row.id === tenant)
  if (due === undefined) throw new Error('The tenant is not due.')
  const slow = { now: () => (fixture.now += 30_000) }
  await sweepTenant({ ...fixture.deps, clock: slow }, due)
}
const deletionOf = async (tenant: string) => (await fixture.storage.table.tenants.get(tenant))?.deletion

async function filled(rows: number): Promise<string> {
  const { table } = fixture.storage
  const tenant = newId('tenant')
  await table.tenants.create({ v: 1, id: tenant, name: 'company', createdAt: fixture.now })
  await Promise.all(Array.from({ length: rows }, () => table.responses.create(responseRow({ tenant, dueAt: null }))))
  await table.tenants.beginDeletion(tenant, fixture.now)
  return tenant
}

it('deletes a tenant in passes of bounded time, each of which continues where the last one ended', async () => {
  const tenant = await filled(800)
  await pass(tenant)
  const first = await deletionOf(tenant)
  expect(first).toMatchObject({ completedAt: null, search: { cursor: expect.any(String) } })
  expect(first?.removedRows).toBeGreaterThan(0)
  expect(first?.removedRows).toBeLessThan(800)
  // A job that ends late writes where the search has been already.
  await fixture.storage.table.responses.create(responseRow({ tenant, id: derivedId('response', 0, tenant), dueAt: null }))
  let passes = 1
  for (; (await deletionOf(tenant))?.completedAt === null; passes++) await pass(tenant)
  expect(passes).toBeGreaterThan(3)
  expect(await deletionOf(tenant)).toMatchObject({ removedRows: 801, completedAt: expect.any(Number) })
  expect(await deletionOf(tenant)).not.toHaveProperty('search')
  const left: string[] = []
  for await (const { kind } of fixture.storage.table.tenantRows.export(tenant)) left.push(kind)
  expect(left).toEqual(['tenant'])
})

it('is postponed before it begins, so that a crashed pass is not repeated at once', async () => {
  const tenant = await filled(1)
  const { table, objects } = fixture.storage
  const dies = { ...objects, deletePrefix: () => Promise.reject(new Error('The storage does not answer.')) }
  const due = { kind: 'tenant', tenant, id: tenant, dueAt: fixture.now } as const
  await expect(sweepTenant({ ...fixture.deps, objects: dies }, due)).rejects.toThrow('does not answer')
  expect((await table.due(fixture.now + 10_000, 100)).filter(({ id }) => id === tenant)).toEqual([])
})

it('stops containers first', async () => {
  const tenant = await filled(1)
  await fixture.storage.table.containers.create(containerRow({ tenant, dueAt: fixture.now }))
  await pass(tenant)
  expect(await deletionOf(tenant)).toMatchObject({ removedRows: 0, completedAt: null })
  await pass(tenant)
  expect((await deletionOf(tenant))?.removedRows).toBeGreaterThan(0)
})
